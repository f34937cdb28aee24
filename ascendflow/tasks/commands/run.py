"""`doit run`, the default command, with ascendflow's exit codes and signals."""

from __future__ import annotations

from typing import Any

from doit.cmd_run import Run as DoitRun

from ascendflow.tasks import signals
from ascendflow.tasks.commands.command import WithoutTraceback
from ascendflow.tasks.session import SESSION


class Run(WithoutTraceback, DoitRun):
    """run tasks"""  # noqa: D415  doit shows it as it is

    name = "run"

    def execute(self, params: Any, args: list[str]) -> int:
        """Run; returns 0 passed, 1 a gate failed, 2 a stage failed, 3 nothing could run."""
        SESSION.executes = True
        SESSION.project  # noqa: B018  makes the folder that doit's database goes to
        signals.install()
        of_doit: int = super().execute(params, args)
        return SESSION.exit_code(of_doit)
