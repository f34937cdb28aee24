"""The one action of a stage's task: bring it up to date, or repeat it when forced."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

from doit.action import BaseAction

from ascendflow.build.judge import judge
from ascendflow.tasks.session import SESSION, say
from ascendflow.tasks.uptodate import META

if TYPE_CHECKING:
    from collections.abc import Collection

    from doit.exceptions import BaseFail
    from doit.task import Task

    from ascendflow.build.bring_up import Outcome
    from ascendflow.plan import Plan, PlannedStage


class StageAction(BaseAction):
    """Calls build/; doit sees a value to save, or a failure."""

    def __init__(self, plan: Plan, stage: PlannedStage) -> None:
        self.task: Task | None = None
        self.result: str | None = None
        self.values: dict[str, Any] = {}
        self.out = self.err = ""
        self._plan = plan
        self._stage = stage

    def execute(self, out: Any = None, err: Any = None) -> BaseFail | None:
        """Run the stage; never raises for what a user can mend."""
        del out, err
        assert self.task is not None  # noqa: S101  doit sets it
        try:
            outcome = self._bring_up(self.task.meta[META])
        except Exception as error:  # noqa: BLE001  of whatever kind, no other task is lost
            from ascendflow.tasks.failures import failure_of, located

            return failure_of(located(error, SESSION.project, self._plan), self.task.name)
        self.values = {"key": outcome.key}
        self.result = outcome.key
        self.task.meta[META]["outcome"] = {
            "how": outcome.how,
            "wall_s": outcome.wall_s,
            "warnings": outcome.warnings,
            "differing": outcome.differing,
        }
        return None

    def _bring_up(self, told: dict[str, Any]) -> Outcome:
        if (failure := told.get("failure")) is not None:
            raise failure
        gc.enable()
        # Not at the top: a run that finds everything up to date starts no process.
        from ascendflow.build.bring_up import Caller, Outcome, bring_up, repeat

        name = self._plan.task_of(self._stage.name)
        judged = judge(SESSION.project, self._plan, self._stage)
        heartbeat = Heartbeat(name, SESSION.timings.last(name))
        if judged.is_up_to_date and judged.record is not None:
            record = judged.record
            if told["reasons"] and not told.get("is_forced"):
                # Another run did the work meanwhile, or only doit's own value is gone,
                # as it is once a forced execution failed.
                return Outcome("restored", record["key"], 0.0, tuple(record["warnings"]))
            return repeat(
                SESSION.project, self._plan, self._stage, record, heartbeat=heartbeat
            )
        ahead = self._looked_ahead_to()
        caller = Caller(ahead, lambda: self._tell_of_reach(ahead), heartbeat, say)
        outcome = bring_up(SESSION.project, self._plan, self._stage, caller)
        if outcome.how == "executed":
            SESSION.timings.note(name, outcome.wall_s)
        return outcome

    def _looked_ahead_to(self) -> set[str]:
        """Name the stages that this one is no use without.

        With `--continue` a backend's branch is for that branch to look after: the stages
        that both share, and the other branch, go on.
        """
        asked = set(SESSION.asked_stages(self._plan.run_name))
        if not SESSION.goes_on():
            return asked
        branch = self._stage.branch
        return asked & {each.name for each in self._plan.stages if each.branch == branch}

    def _tell_of_reach(self, ahead: Collection[str]) -> None:
        """Warn of devices that cannot be reached now, once; they may come to be."""
        from ascendflow.build.missing import out_of_reach, runs_after
        from ascendflow.terminal import told

        for each in runs_after(self._plan, self._stage, ahead):
            task = self._plan.task_of(each.name)
            if task in SESSION.looked_at:
                continue
            SESSION.looked_at.add(task)
            if (problem := out_of_reach(each)) is not None:
                text = f"{task} will need what cannot be reached now: {problem}"
                say(told(f"   warning: {text}"))


class Heartbeat:
    """Says every half minute that a stage still runs, and what it took last time."""

    every_s = 30.0

    def __init__(self, task: str, last_s: float | None) -> None:
        self._task = task
        self._last = "" if last_s is None else f"; last time it took {last_s:.0f} s"
        self._next_s = self.every_s

    def __call__(self, elapsed_s: float) -> None:
        """Write a line to standard error when half a minute has gone by."""
        if elapsed_s >= self._next_s:
            self._next_s += self.every_s
            sys.stderr.write(f"   {self._task} has run for {elapsed_s:.0f} s{self._last}\n")
