"""Times whole commands, so that start-up counts, as it does for a user."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Command:
    """A command that is to succeed, and where it runs."""

    arguments: Sequence[str]
    folder: Path
    environment: Mapping[str, str]

    def run(self) -> str:
        """Run once and return its output.

        Raises:
            RuntimeError: it exited non-zero; both outputs are in the message.
        """
        done = subprocess.run(
            self.arguments,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            text = f"{' '.join(self.arguments)}: exit {done.returncode} in {self.folder}"
            raise RuntimeError(f"{text}\n{done.stdout}{done.stderr}")
        return done.stdout


def medians_ms(commands: Sequence[Command], rounds: int) -> list[float]:
    """Return each command's median wall time.

    Rounds are interleaved (a b a b, not a a b b), so that a machine that grows slower
    or busier meanwhile does so for all of them.
    """
    for command in commands:
        command.run()  # warm: byte code and page cache
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, spent in zip(commands, times, strict=True):
            start = time.perf_counter()
            command.run()
            spent.append((time.perf_counter() - start) * 1000)
    return [statistics.median(spent) for spent in times]


def environment(root: Path) -> dict[str, str]:
    """Return the environment that `./run` of `root` gives a command, byte code allowed."""
    keep = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    return keep | {"PYTHONPATH": str(root)}
