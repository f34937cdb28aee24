from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.workshops import Workshop

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    return Workshop(tmp_path / "repository").use(monkeypatch)
