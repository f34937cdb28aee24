"""Times whole commands, so that start-up counts, as it does for a user."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

COUNTING = (
    "valgrind",
    "--tool=cachegrind",
    "--cache-sim=no",
    "--cachegrind-out-file=/dev/null",
)


class Command(NamedTuple):
    """A command that is to succeed, and where it runs."""

    arguments: Sequence[str]
    folder: Path
    environment: Mapping[str, str]

    def run(self) -> str:
        """Run once and return its output.

        Raises:
            RuntimeError: it exited non-zero; both outputs are in the message.
        """
        return _done(self).stdout

    def instructions(self) -> int | None:
        """Count the instructions of one run, which a busy machine does not change.

        None where there is no valgrind. Waiting (for a disk, say) is not in it.
        """
        if shutil.which(COUNTING[0]) is None:
            return None
        counted = self._replace(
            arguments=[*COUNTING, *self.arguments],
            environment={**self.environment, "PYTHONHASHSEED": "0"},
        )
        found = re.search(r"I\s+refs:\s+([\d,]+)", _done(counted).stderr)
        return None if found is None else int(found[1].replace(",", ""))


def _done(command: Command) -> subprocess.CompletedProcess[str]:
    arguments, folder, variables = command
    done = subprocess.run(
        arguments, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        text = f"{' '.join(arguments)}: exit {done.returncode} in {folder}"
        raise RuntimeError(f"{text}\n{done.stdout}{done.stderr}")
    return done


class Times(NamedTuple):
    """Wall times of one command, in ms, and what it printed the last time."""

    median_ms: float
    least_ms: float
    last_ms: float
    said: str


def times(
    commands: Sequence[Command],
    rounds: int,
    before: Callable[[Path, int], None] | None = None,
) -> list[Times]:
    """Return each command's wall times.

    Rounds are interleaved (a b a b, not a a b b), so that a machine that grows slower
    or busier meanwhile does so for all of them.

    Args:
        commands: what to time.
        rounds: how often.
        before: called before each run, untimed, with the command's folder and the number
            of the round, from 1. Without it a round 0, not timed, comes first, and leaves
            byte code and page cache warm.
    """
    if before is None:
        for command in commands:
            command.run()
    spent: list[list[float]] = [[] for _ in commands]
    said = [""] * len(commands)
    for number in range(1, rounds + 1):
        for place, command in enumerate(commands):
            if before is not None:
                before(command.folder, number)
            start = time.perf_counter()
            said[place] = command.run()
            spent[place].append((time.perf_counter() - start) * 1000)
    return [
        Times(statistics.median(mine), min(mine), mine[-1], text)
        for mine, text in zip(spent, said, strict=True)
    ]


def environment(root: Path) -> dict[str, str]:
    """Return the environment that `./run` of `root` gives a command, byte code allowed."""
    keep = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    return keep | {"PYTHONPATH": str(root)}
