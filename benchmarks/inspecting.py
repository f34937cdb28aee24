"""Inspecting an OM of 500 MB: what it says of itself, and its two digests.

`python -m benchmarks.inspecting`. Of the whole command most is Python's start.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.child import interleaved, peak_mb, run, seconds, work
from benchmarks.children.large_om import FILE
from benchmarks.row import Row, table

ROUNDS = 7
CLAIM = "inspect 500 MB"


def measure() -> list[Row]:
    """Measure reading alone, with digests, and the whole command; each in a process."""
    with tempfile.TemporaryDirectory() as scratch:
        work("large_om", scratch)
        command = [sys.executable, "-m", "ascendflow.cli", "inspect", "--no-digests"]
        calls = (
            partial(work, "inspect_one", scratch, "nothing"),
            partial(work, "inspect_one", scratch, "digests"),
            partial(run, [*command, str(Path(scratch) / FILE)]),
        )
        alone, digests, whole = interleaved(calls, ROUNDS)
    detail = f"graph and attributes of {alone[0].said['definition_mb']:.1f} MB"
    rounds = f"median of {ROUNDS}"
    of_all = "the process's largest, Python and imports among it"
    return [
        Row(CLAIM, seconds(alone) * 1000, 200, "ms", f"{rounds}; {detail}"),
        Row(f"{CLAIM}, the whole command", seconds(whole) * 1000, 1000, "ms", rounds),
        Row(f"{CLAIM}, with both digests", seconds(digests) * 1000, 5000, "ms", rounds),
        Row(f"{CLAIM}, memory", peak_mb(alone), 100, "MB", of_all),
        Row(f"{CLAIM}, with both digests, memory", peak_mb(digests), 100, "MB", of_all),
    ]


if __name__ == "__main__":
    print(table(measure()))
