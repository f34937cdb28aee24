"""Shorthands of the tests of OM files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.om.inspection import inspect_om

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ascendflow.documents.inspection import Inspection

Inspect = "Callable[[bytes], Inspection]"


@pytest.fixture
def inspect(tmp_path: Path) -> Callable[[bytes], Inspection]:
    """Return a function that inspects bytes as a file."""

    def inspected(content: bytes) -> Inspection:
        path = tmp_path / "net.om"
        path.write_bytes(content)
        return inspect_om(path)

    return inspected
