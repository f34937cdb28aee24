"""Refuse, before anything dear runs, what the gate would refuse at the very end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.build.project import RECORD
from ascendflow.cache.record import read_record
from ascendflow.cache.staleness import StaleReason
from ascendflow.metrics.thresholds import refuse_unknown_outputs

if TYPE_CHECKING:
    from ascendflow.build.project import Project
    from ascendflow.plan import Plan

KNOWS_OUTPUTS = "export"


def refuse_foreseen(project: Project, plan: Plan, stage: str) -> None:
    """Hold the gate's names to the outputs that the export recorded, for any later stage.

    The names are in no key but the gate's, so that to change one exports nothing again.

    Raises:
        StageError: `gate.outputs` names what is no output of the model.
    """
    names = [planned.name for planned in plan.stages]
    gates = plan.all_of("gate")  # of equal thresholds, where there are several
    if KNOWS_OUTPUTS not in names[: names.index(stage)] or not gates:
        return
    record = read_record(f"{project.stage_path(plan, KNOWS_OUTPUTS)}/{RECORD}")
    outputs = None if isinstance(record, StaleReason) else record["facts"].get("outputs")
    if isinstance(outputs, list):
        refuse_unknown_outputs(gates[0].config.get("outputs") or {}, outputs)
