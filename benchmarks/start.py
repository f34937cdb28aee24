"""What `./run` costs once the environment is there."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.row import Row
from benchmarks.timing import Command, times

ROOT = Path(__file__).resolve().parent.parent


def measure() -> list[Row]:
    """Measure `./run true`, of which the start of `true` itself is a part."""
    commands = [Command([str(ROOT / "run"), "true"], ROOT, os.environ)]
    commands.append(Command(["true"], ROOT, os.environ))
    spent, bare = times(commands, rounds=51)
    detail = f"{bare.median_ms:.1f} ms of it is true itself"
    return [Row("./run true", spent.median_ms, 20, "ms", detail)]
