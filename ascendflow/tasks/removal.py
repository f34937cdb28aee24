"""What `doit clean` does for one task: take its folder out of `build/`."""

from __future__ import annotations

from typing import Any

from doit.action import BaseAction

from ascendflow.cache.files import remove
from ascendflow.tasks.session import SESSION


class RemoveFolder(BaseAction):
    """Removes a folder once no run works in it; raises where that cannot be done.

    An action of doit's would be told on standard error and exit with 0.

    Attributes:
        folder: the folder, relative to the repository.
        run_name: the run whose folder it is, or is in.
        is_whole: whether it is the folder of the whole run.
    """

    def __init__(self, run_name: str, stage: str = "") -> None:
        self.task = None
        self.folder = f"build/{run_name}/{stage}" if stage else f"build/{run_name}"
        self.run_name = run_name
        self.is_whole = not stage

    def execute(self, out: Any = None, err: Any = None) -> None:
        """Remove it, or raise OSError."""
        del out, err
        SESSION.hold_run(self.run_name)
        remove(str(SESSION.project.repository / self.folder))
