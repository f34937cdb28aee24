"""One run at a time in each `build/<run>`: a second waits, and says for whom.

A process takes all the locks that it may need at once, in the order of their names: two
that took them as they came could wait for each other for ever.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from ascendflow.build.publish import clear_work
from ascendflow.cache.lock import hold, this_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ascendflow.build.project import Project


class RunLocks:
    """Locks that this process holds, taken when one is first needed, kept to its end."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._until_exit = ExitStack()

    def hold(
        self, project: Project, run_names: Iterable[str], say: Callable[[str], None]
    ) -> bool:
        """Take the lock on each `build/<run>`; waits as long as another process has one.

        Returns:
            Whether one was waited for, so that what was known of the folders may be old.
        """
        waited = [self._hold(project, name, say) for name in sorted(run_names)]
        return any(waited)

    def is_held(self, run_name: str) -> bool:
        """Whether this process works in `build/<run_name>`."""
        return run_name in self._held

    def _hold(self, project: Project, run_name: str, say: Callable[[str], None]) -> bool:
        if self.is_held(run_name):
            return False
        waits = []

        def on_wait(holder: str) -> None:
            waits.append(holder)
            say(f"waiting for build/{run_name}: {holder} works in it")

        path = project.state / "locks" / f"build-{run_name}.lock"
        self._until_exit.enter_context(hold(path, note=this_process(), on_wait=on_wait))
        self._held.add(run_name)
        clear_work(project, run_name)
        return bool(waits)
