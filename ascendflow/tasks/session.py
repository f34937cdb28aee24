"""What one doit process knows of itself: its project, the locks it holds, its exit code."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ascendflow.build.project import Project
from ascendflow.build.proof import Proofs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ascendflow.build.locks import RunLocks
    from ascendflow.build.timings import Timings


class Session:
    """State of one doit process.

    Attributes:
        executes: whether the command runs tasks (`run`), or only looks (`list`, `info`).
        forces: whether it is to execute what is up to date, too (`-a`).
        asked_runs: gives the names of the runs that the command may work in.
        asked_stages: gives the stages of a run that the command may bring up to date.
        goes_on: tells whether other stages run on after one that fails (`--continue`).
        problems: where those of manifests go; None: they are raised, and nothing goes on.
        stale_runs: names of the runs in which a stage was found stale.
        exit_codes: the exit code that each failure asks for.
        told_warnings: (task, warning) of stages, as this command has printed them.
        looked_at: the tasks of which it was asked whether their device can be reached.
    """

    def __init__(self) -> None:
        self.executes = False
        self.forces = False
        self.asked_runs: Callable[[], Iterable[str]] = tuple
        self.asked_stages: Callable[[str], Collection[str]] = lambda _run: ()
        self.goes_on: Callable[[], bool] = lambda: False
        self.problems: list[str] | None = None
        self.stale_runs: set[str] = set()
        self.exit_codes: list[int] = []
        self.told_warnings: set[tuple[str, str]] = set()
        self.looked_at: set[str] = set()

    @cached_property
    def project(self) -> Project:
        """The repository in whose folder doit runs."""
        return Project(Path.cwd())

    @cached_property
    def proofs(self) -> Proofs:
        """What says at a glance that a run is up to date."""
        return Proofs(self.project)

    @cached_property
    def timings(self) -> Timings:
        """How long stages took last time."""
        from ascendflow.build.timings import Timings

        return Timings(self.project.state / "timings.json")

    @cached_property
    def _locks(self) -> RunLocks:
        from ascendflow.build.locks import RunLocks

        return RunLocks()

    def hold_run(self, run_name: str) -> bool:
        """Take the lock on `build/<run_name>` before a stage is run; True if it waited.

        With it the locks on all that this command may yet come to work in.
        """
        if not self.executes or self._locks.is_held(run_name):
            return False
        return self._locks.hold(self.project, {run_name, *self.asked_runs()}, say)

    def exit_code(self, of_doit: int) -> int:
        """Return what to exit with, given doit's own answer.

        A stage or tool that failed (2) wins over what could not be run at all (3), and
        that over a gate (1).
        """
        for code in (2, 3, 1):
            if code in self.exit_codes:
                return code
        return of_doit


def say(text: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"{text}\n")


SESSION = Session()
