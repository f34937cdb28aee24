"""`doit run`, the default command, with ascendflow's exit codes and signals."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper
from typing import Any

from doit.cmd_run import Run as DoitRun

from ascendflow.errors import UsageError
from ascendflow.plan import kind_of
from ascendflow.tasks import signals
from ascendflow.tasks.commands.command import WithoutTraceback, complain
from ascendflow.tasks.ending import tell_ending
from ascendflow.tasks.session import SESSION
from ascendflow.vocabulary import STAGES


class Run(WithoutTraceback, DoitRun):
    """run tasks"""  # noqa: D415  doit shows it as it is

    name = "run"

    def execute(self, params: Any, args: list[str]) -> int:
        """Run; returns 0 passed, 1 a gate failed, 2 a stage failed, 3 nothing could run."""
        # Until a stage runs there is no cyclic garbage, and to look for it takes a tenth.
        gc.disable()
        SESSION.executes = True
        SESSION.forces = params["always"]
        SESSION.asked_runs = self._asked_runs
        SESSION.asked_stages = self._asked_stages
        SESSION.goes_on = lambda: bool(params.get("continue"))  # dodo.py may say it too
        SESSION.project.ahead.expect(self._asked_runs)
        signals.install()
        if isinstance(sys.stdout, TextIOWrapper):
            # A line is seen when it is said, also through `| tee`: stages take long.
            sys.stdout.reconfigure(line_buffering=True)
        if params.get("single"):
            return _refuse_single()
        of_doit: int = super().execute(params, args)
        if getattr(self, "control", None) is not None:
            # What is for a program is JSON and nothing else.
            stream = sys.stderr if params["reporter"] == "json" else sys.stdout
            tell_ending(self.control.tasks, self._asked_tasks(), stream)
        return SESSION.exit_code(of_doit)

    def _asked_runs(self) -> set[str]:
        """Name the runs of all stages that were selected, or that those depend on."""
        found = self._asked_tasks()
        return {
            run
            for stage, _, run in (name.partition(":") for name in found)
            if run and kind_of(stage) in STAGES
        }

    def _asked_stages(self, of_run: str) -> set[str]:
        """Name the stages of one run among them."""
        named = (name.partition(":") for name in self._asked_tasks())
        return {stage for stage, _, run in named if run == of_run}

    def _asked_tasks(self) -> set[str]:
        if getattr(self, "control", None) is None:  # doit is still loading tasks
            return set()
        tasks = self.control.tasks
        found, waiting = set(), list(self.control.selected_tasks)
        while waiting:
            if (name := waiting.pop()) not in found:
                found.add(name)
                waiting += tasks[name].task_dep
        return found


def _refuse_single() -> int:
    complain(
        UsageError(
            "--single runs a task without what comes before it, so that a verdict of what "
            "is no longer there would be told",
            hint="leave it out: what is up to date is not run again",
        )
    )
    return UsageError.exit_code
