"""The runs that have nothing to do: start-up, a new repository's, and this checkout's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import noop, start

if TYPE_CHECKING:
    from benchmarks.row import Row


def measure() -> list[Row]:
    """Measure all of them."""
    rows = start.measure() + noop.measure()
    if Path("pipelines/pan/manifest.yaml").is_file():
        rows += noop.measure("pan")
    return rows
