"""How every document is written: readable, sorted, and the same bytes for the same data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write `document` as UTF-8 JSON with a newline at its end.

    Raises:
        ValueError: it holds a NaN or an infinity, which JSON cannot say.
    """
    text = json.dumps(document, indent=1, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
