"""Rewriting one attribute in a model of 1 GB whose weights lie beside it.

`python -m benchmarks.rewriting`. Imports are not counted. That the weights are not read is
what the process's own count of read bytes says, and of mapped ones its memory.
"""

from __future__ import annotations

import statistics
import tempfile

from benchmarks.child import work
from benchmarks.row import Row, table

ROUNDS = 7
CLAIM = "rewrite one attribute of 1 GB"


def measure() -> list[Row]:
    """Measure time, memory beyond the imports, and bytes read."""
    said = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as scratch:
            said.append(work("rewrite_one", scratch).said)
    times = [one["seconds"] * 1000 for one in said]
    first = said[0]
    edited = f"{first['edited']} node edited, weights {first['data_mb']:.0f} MB"
    detail = f"least {min(times):.0f} ms, {ROUNDS} rounds; {edited}"
    grown, read = (max(one[key] for one in said) for key in ("grown_mb", "read_mb"))
    return [
        Row(CLAIM, statistics.median(times), 200, "ms", detail),
        Row(f"{CLAIM}, memory beyond imports", grown, 100, "MB", "the largest"),
        Row(f"{CLAIM}, bytes read", read, 1, "MB", "the largest"),
    ]


if __name__ == "__main__":
    print(table(measure()))
