"""What `./run` costs once the environment is there."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.row import Row
from benchmarks.timing import Command, medians_ms

ROOT = Path(__file__).resolve().parent.parent


def measure() -> list[Row]:
    """Measure `./run true`, of which the start of `true` itself is a part."""
    commands = [Command([str(ROOT / "run"), "true"], ROOT, os.environ)]
    commands.append(Command(["true"], ROOT, os.environ))
    spent, bare = medians_ms(commands, rounds=51)
    return [Row("./run true", spent, 20, "ms", f"{bare:.1f} ms of it is true itself")]
