"""`./run python -m benchmarks`: measures every claim and prints one table.

Exits 1 if a claim does not hold. Outside the test run: a busy machine is not a bug.
"""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from benchmarks import (
    build,
    compare,
    device,
    dump,
    fixing,
    idle,
    inspecting,
    linting,
    lowering,
    rewriting,
    running,
)
from benchmarks.row import Row, table

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
PARTS = (
    idle,
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
    rows: list[Row] = []
    for part in PARTS:
        measured = _alone(part.measure)
        print(table(measured), file=sys.stderr)
        rows += measured
    print(table(rows))
    return 0 if all(row.holds for row in rows) else 1


def _alone(measure: Callable[[], list[T]]) -> list[T]:
    """Measure in a process of its own: its size counts in the peaks that it measures."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(measure).result()


if __name__ == "__main__":
    sys.exit(main())
