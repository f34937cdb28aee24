"""Linting a model of 1 GB whose weights lie beside it.

`python -m benchmarks.linting`. Of the whole command most is Python's start and its imports.
"""

from __future__ import annotations

import statistics
import tempfile

from benchmarks.child import work
from benchmarks.row import Row, table

ROUNDS = 7
CLAIM = "lint 1 GB"


def measure() -> list[Row]:
    """Measure the command's time, and its memory and bytes read beyond the imports."""
    said = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as scratch:
            said.append(work("lint_one", scratch).said)
    times, whole = (
        [one[key] * 1000 for one in said] for key in ("seconds", "command_seconds")
    )
    first = said[0]
    found = f"{first['found']} findings, weights {first['data_mb']:.0f} MB"
    detail = f"least {min(times):.0f} ms, {ROUNDS} rounds; {found}"
    grown, read = (max(one[key] for one in said) for key in ("grown_mb", "read_mb"))
    return [
        Row(CLAIM, statistics.median(times), 200, "ms", detail),
        Row(
            f"{CLAIM}, the whole command",
            statistics.median(whole),
            1000,
            "ms",
            f"least {min(whole):.0f} ms",
        ),
        Row(f"{CLAIM}, memory beyond imports", grown, 100, "MB", "the largest"),
        Row(f"{CLAIM}, bytes read", read, 3, "MB", "the largest; imports among them"),
    ]


if __name__ == "__main__":
    print(table(measure()))
