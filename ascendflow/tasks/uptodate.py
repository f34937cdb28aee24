"""The one `uptodate` object of a stage's task; its repr is the reason."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from ascendflow.build.judge import judge
from ascendflow.cache.staleness import StaleReason
from ascendflow.errors import AscendflowError
from ascendflow.tasks.session import SESSION

if TYPE_CHECKING:
    from doit.task import Task

    from ascendflow.plan import Plan, PlannedStage

META = "ascendflow"


class UpToDate:
    """Asks whether a stage's key and outputs are those of its last record."""

    # doit asks for it for each task, and to work it out takes as long as to judge.
    __signature__ = signature(lambda task, values: task and values)

    def __init__(self, plan: Plan, stage: PlannedStage) -> None:
        self._plan = plan
        self._stage = stage
        self._reasons: tuple[str, ...] = ()

    def __call__(self, task: Task, values: dict[str, Any]) -> bool:
        """Judge; the answer travels in `task.meta`, which reaches other processes too.

        So does an exception: here it would end the whole run, in the action it is this
        task's failure.
        """
        told: dict[str, Any] = {"is_forced": True} if SESSION.forces else {}
        try:
            self._reasons = self._settle(values)
        except (AscendflowError, OSError) as error:
            told["failure"] = error
            self._reasons = (str(error).splitlines()[0],)
        task.meta = {META: {"reasons": list(self._reasons), **told}}
        return not self._reasons

    def _settle(self, values: dict[str, Any]) -> tuple[str, ...]:
        """Judge, and take the run's lock if the stage is stale."""
        reasons = self._judge(values)
        if reasons:
            SESSION.stale_runs.add(self._plan.run_name)
            SESSION.project.standing.clear()
            SESSION.proofs.drop()
            if SESSION.hold_run(self._plan.run_name):
                reasons = self._judge(values)
        return reasons

    def _judge(self, values: dict[str, Any]) -> tuple[str, ...]:
        if (proof := SESSION.proofs.of(self._plan)) is not None:
            return _why_unsaved(values, proof.keys[self._stage.name])
        judgement = judge(SESSION.project, self._plan, self._stage)
        if judgement.record is not None and judgement.is_up_to_date:
            return _why_unsaved(values, judgement.record["key"])
        if judgement.reasons == (StaleReason("never_built"),) and "key" in values:
            return (str(StaleReason("absent")),)
        return tuple(str(reason) for reason in judgement.reasons)

    def __repr__(self) -> str:
        """Say why the stage is stale, for `doit info`."""
        return "; ".join(self._reasons) or "up to date"


def _why_unsaved(values: dict[str, Any], key: str) -> tuple[str, ...]:
    """Return why doit itself does not know that a stage is up to date."""
    is_saved = values.get("key") == key
    return () if is_saved else (str(StaleReason("saved_value_lost")),)


class NeverUpToDate:
    """For the task that tells the verdict: always told, and told whether anything ran."""

    __signature__ = signature(lambda task: task)

    def __init__(self, run_name: str) -> None:
        self._run_name = run_name

    def __call__(self, task: Task) -> bool:
        """Leave in `task.meta` whether a stage of this run was stale."""
        task.meta = {META: {"something_ran": self._run_name in SESSION.stale_runs}}
        return False

    def __repr__(self) -> str:
        """Say why it runs each time, for `doit info`."""
        return "the verdict is told each time"
