"""Runs one piece of work in a process of its own, for its time and its peak memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.timing import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent


class Ran(NamedTuple):
    """What one process took.

    Attributes:
        seconds: wall time, start-up included.
        peak_mb: its largest resident memory (`ru_maxrss`). The kernel counts what the
            parent had when it started it, so this is never too small, and whoever
            measures stays small.
        said: the JSON object that was its last line; empty if there was none.
    """

    seconds: float
    peak_mb: float
    said: dict[str, Any]


def work(name: str, *arguments: object) -> Ran:
    """Run `benchmarks/children/NAME.py` with our packages, native thread pools off."""
    return run([sys.executable, "-m", f"benchmarks.children.{name}", *map(str, arguments)])


def run(command: Sequence[str]) -> Ran:
    """Run a command to its end.

    Raises:
        RuntimeError: it exited non-zero; its output is in the message.
    """
    variables = {**environment(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env=variables, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}\n{text}")
    last = text.strip().rpartition("\n")[2]
    said = json.loads(last) if last.startswith("{") else {}
    return Ran(seconds, usage.ru_maxrss / 1024, said)


def interleaved(calls: Sequence[Callable[[], Ran]], rounds: int) -> list[list[Ran]]:
    """Call each in turn, `rounds` times; return the runs of each."""
    runs = [[call() for call in calls] for _ in range(rounds)]
    return [list(mine) for mine in zip(*runs, strict=True)]


def seconds(runs: Sequence[Ran]) -> float:
    """Return the median of what the children timed themselves, else of their wall time."""
    return statistics.median(float(ran.said.get("seconds", ran.seconds)) for ran in runs)


def peak_mb(runs: Sequence[Ran]) -> float:
    """Return the largest peak."""
    return max(one.peak_mb for one in runs)


@contextmanager
def network() -> Iterator[tuple[Path, Ran]]:
    """Make `pan.onnx` and its emulator artifact `emulated` in a folder for a while."""
    with tempfile.TemporaryDirectory() as scratch:
        yield Path(scratch), work("network", scratch)
