"""How one run stands, in a few words for `list`: what its verdict says, and of what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ascendflow.build.judge import judge
from ascendflow.errors import AscendflowError
from ascendflow.report.words import counted
from ascendflow.tasks.session import SESSION

if TYPE_CHECKING:
    from ascendflow.plan import Plan

TELLING = ("report", "contrast")
"""Stages that tell of a verdict, which holds without them."""


def standing_words(plan: Plan) -> str:
    """Tell the verdict and whether it still holds, or which stage failed; never raises."""
    try:
        reasons = {s.name: judge(SESSION.project, plan, s).reasons for s in plan.stages}
    except (AscendflowError, OSError) as error:
        return f"unknown: {str(error).splitlines()[0]}"
    failed = [name for name, why in reasons.items() if why and why[0].kind == "failed"]
    if failed:
        return f"{failed[0]} failed"
    told = {gate.branch: _verdict(plan, gate.name) for gate in plan.all_of("gate")}
    if None in told.values():
        return "not built" if _is_unbuilt(plan) else "not finished"
    verdict = ", ".join(f"{b}: {words}" if b else str(words) for b, words in told.items())
    stale = [s.name for s in plan.stages if reasons[s.name] and s.kind not in TELLING]
    return f"{verdict}{f'; {stale[0]} is stale since' if stale else ''}"


def _verdict(plan: Plan, gate: str) -> str | None:
    """Return what `build/` says of the gate; None where nothing that can be read does."""
    path = SESSION.project.artifact(plan, gate, "verdict.json")
    try:
        verdict: Any = json.loads(path.read_text(encoding="utf-8"))
        failed = sum(check["passed"] is not True for check in verdict["checks"])
        is_passed = verdict["passed"] is True
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if is_passed:
        return "gate passed"
    return f"gate FAILED ({failed} of {counted(len(verdict['checks']), 'check')})"


def _is_unbuilt(plan: Plan) -> bool:
    project = SESSION.project
    return not any(project.stage_folder(plan, s.name).exists() for s in plan.stages)
