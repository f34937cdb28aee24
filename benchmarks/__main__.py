"""`./run python -m benchmarks`: measures every claim and prints one table.

Exits 1 if a claim does not hold. Outside the test run: a busy machine is not a bug.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import build, compare, dump, noop, rewriting, running, start
from benchmarks.row import table


def main() -> int:
    """Measure and print; returns the exit code."""
    rows = start.measure() + noop.measure()
    if Path("pipelines/pan/manifest.yaml").is_file():
        rows += noop.measure("pan")
    for part in (build, compare, dump, running, rewriting):
        rows += part.measure()
    print(table(rows))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
