"""One run at a time in each `build/<run>`: a second waits, and says for whom."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from shutil import rmtree
from typing import TYPE_CHECKING

from ascendflow.build.project import WORK
from ascendflow.cache.lock import hold

if TYPE_CHECKING:
    from collections.abc import Callable

    from ascendflow.build.project import Project


class RunLocks:
    """The locks that this process holds, each taken when first needed, kept to its end."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._until_exit = ExitStack()

    def hold(self, project: Project, run_name: str, say: Callable[[str], None]) -> bool:
        """Take the lock on `build/<run_name>`; waits as long as another process has it.

        Returns:
            Whether it was waited for, so that what was known of the folder may be old.
        """
        if run_name in self._held:
            return False
        waits = []

        def on_wait(holder: str) -> None:
            waits.append(holder)
            say(f"waiting for build/{run_name}: {holder} works in it")

        path = project.state / "locks" / f"build-{run_name}.lock"
        self._until_exit.enter_context(hold(path, note=_note(), on_wait=on_wait))
        self._held.add(run_name)
        # Nobody else works there now: what is left is of a run that was killed.
        rmtree(project.build_folder(run_name) / WORK, ignore_errors=True)
        return bool(waits)


def _note() -> str:
    command = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
    return f"process {os.getpid()} ({command})"
