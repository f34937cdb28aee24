"""`doit explain [STAGE] model=pan`: what is stale and why, old and new value."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from doit.cmd_base import DoitCmdBase
from doit.exceptions import InvalidCommand

from ascendflow.build.judge import judge
from ascendflow.tasks.commands.command import WithoutTraceback
from ascendflow.tasks.pipelines import selected_plans
from ascendflow.tasks.session import SESSION
from ascendflow.vocabulary import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.plan import Plan


class Explain(WithoutTraceback, DoitCmdBase):
    """Walks the chain of stages and says of each why it would run."""

    name = "explain"
    doc_purpose = "say which stages are stale, and why"
    doc_usage = "[STAGE]"
    doc_description = "Walks the whole chain, where `info` speaks of one stage."

    def _execute(self, pos_args: list[str]) -> int:
        for name in pos_args:
            if name not in STAGES:
                near = get_close_matches(name, STAGES, n=1) or [", ".join(STAGES)]
                raise InvalidCommand(f"{name!r} is not a stage\n  hint: {near[0]}?")
        for plan in selected_plans():
            self.outstream.write(f"{plan.run_name}\n")
            for line in explain(plan, pos_args):
                self.outstream.write(f"  {line}\n")
        return 0


def explain(plan: Plan, wanted: list[str]) -> Iterator[str]:
    """Yield lines that say of each wanted stage (all, if none is named) why it is stale."""
    stale: set[str] = set()
    for stage in plan.stages:
        before = sorted({made_by for made_by in stage.inputs.values() if made_by in stale})
        lines = [f"after {', '.join(before)}, unless their outputs come out the same"]
        if not before:
            judgement = judge(SESSION.project, plan, stage)
            lines = [str(reason) for reason in judgement.reasons]
        if lines:
            stale.add(stage.name)
        if not wanted or stage.name in wanted:
            state = "stale" if lines else "up to date"
            yield f"{stage.name:<9} {state}"
            yield from (f"{'':<9}   {line}" for line in lines)
