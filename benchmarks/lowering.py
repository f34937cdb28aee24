"""Lowering a model of a thousand nodes for the emulator.

`python -m benchmarks.lowering`. Imports are not counted; reading the file, choosing types,
looking for deviations and editing are, in the mode that follows producers.
"""

from __future__ import annotations

import statistics
import tempfile

from benchmarks.child import work
from benchmarks.row import Row, table

ROUNDS = 7
CLAIM = "lower 1000 nodes"


def measure() -> list[Row]:
    """Measure the time of one lowering, each in a process of its own."""
    said = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as scratch:
            said.append(work("lower_many", scratch).said)
    times = [one["seconds"] for one in said]
    detail = f"least {min(times):.2f} s, {ROUNDS} rounds; {said[0]['nodes']} nodes"
    return [Row(CLAIM, statistics.median(times), 1, "s", detail)]


if __name__ == "__main__":
    print(table(measure()))
