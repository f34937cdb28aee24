"""`./run python -m benchmarks`: measures every claim and prints one table.

Exits 1 if a claim does not hold. Outside the test run: a busy machine is not a bug.
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

from benchmarks import (
    build,
    compare,
    device,
    dump,
    fixing,
    inspecting,
    linting,
    lowering,
    noop,
    rewriting,
    running,
    start,
)
from benchmarks.row import Row, table

PARTS = (
    build,
    fixing,
    compare,
    dump,
    running,
    rewriting,
    lowering,
    linting,
    inspecting,
    device,
)


def main() -> int:
    """Measure, tell each part as it ends, and print all; returns the exit code."""
    first = start.measure() + noop.measure()
    if Path("pipelines/pan/manifest.yaml").is_file():
        first += noop.measure("pan")
    rows: list[Row] = []
    for measured in chain([first], (part.measure() for part in PARTS)):
        print(table(measured), file=sys.stderr)
        rows += measured
    print(table(rows))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
