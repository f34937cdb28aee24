"""How every document is written (readable, sorted, same bytes for same data), and read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def json_text(document: Mapping[str, object]) -> str:
    """Spell `document` as ASCII JSON with a newline at its end.

    Raises:
        ValueError: it holds a NaN or an infinity, which JSON cannot say; see `numbers`.
    """
    return json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n"


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write `document`; raises as `json_text` does."""
    path.write_text(json_text(document), encoding="ascii")


def read_json(path: Path) -> Any:
    """Read what `write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))
