"""`doit explain [STAGE[:RUN]...] model=pan`: what is stale and why, old and new value."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from doit.cmd_base import DoitCmdBase
from doit.exceptions import InvalidCommand

from ascendflow.build.judge import judge
from ascendflow.build.publish import withdrawn_with
from ascendflow.tasks.commands.command import WithoutTraceback
from ascendflow.tasks.pipelines import selected_plans
from ascendflow.tasks.session import SESSION
from ascendflow.terminal import told
from ascendflow.vocabulary import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ascendflow.plan import Plan


UNBUILT = ("never_built", "withdrawn", "absent", "input_missing")
"""Reasons that say nothing of a stage of which earlier ones are stale."""


class Explain(WithoutTraceback, DoitCmdBase):
    """Walks the chain of stages and says of each why it would run."""

    name = "explain"
    doc_purpose = "say which stages are stale, and why"
    doc_usage = "[STAGE[:RUN]...]"
    doc_description = "Walks the whole chain, where `info` speaks of one stage."

    def _execute(self, pos_args: list[str]) -> int:
        asked = [name.partition(":") for name in pos_args]
        plans = selected_plans()
        for stage, _, run in asked:
            known = [each.name for plan in plans for each in plan.stages]
            _refuse_unknown("stage", stage, list(dict.fromkeys([*STAGES, *known])))
            if run:
                _refuse_unknown("run", run, [plan.run_name for plan in plans])
        for plan in plans:
            wanted = [stage for stage, _, run in asked if run in ("", plan.run_name)]
            if asked and not wanted:
                continue
            self.outstream.write(f"{plan.run_name}\n")
            for line in explain(plan, wanted):
                self.outstream.write(f"  {told(line)}\n")
        return 0


def _refuse_unknown(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise InvalidCommand(f"{name!r} is not a {what}\n  hint: {hint}")


def explain(plan: Plan, wanted: list[str]) -> Iterator[str]:
    """Yield lines that say of each wanted stage (all, if none is named) why it is stale."""
    width = max(9, *(len(stage.name) for stage in plan.stages))
    stale: dict[str, None] = {}
    for stage in plan.stages:
        before = sorted({made_by for made_by in stage.inputs.values() if made_by in stale})
        reasons = [
            reason
            for reason in judge(SESSION.project, plan, stage).reasons
            # What a stale stage left says nothing of what it will make.
            if not before or reason.kind != "input" or reason.subject in stage.files
        ]
        lines = [str(reason) for reason in reasons]
        if before and (not lines or reasons[0].kind in UNBUILT):
            lines = [f"after {', '.join(before)}, unless their outputs come out the same"]
        elif before:
            lines.append(f"and after {', '.join(before)}")
        elif not lines and (
            again := [n for n in stale if stage.name in withdrawn_with(plan, n)]
        ):
            lines = [f"withdrawn while {', '.join(again)} is made again"]
        if lines:
            stale[stage.name] = None
        if not wanted or {stage.name, stage.kind} & {*wanted}:
            state = "stale" if lines else "up to date"
            yield f"{stage.name:<{width}} {state}"
            yield from (f"{'':<{width}}   {line}" for line in lines)
