"""What stages warned of, from their records, as an input of the stage that tells it all.

The digest of that input is in the key of who takes it, so that a record with other
warnings, be its artifacts the same, makes a report stale.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ascendflow.build.project import RECORD
from ascendflow.cache.record import read_record
from ascendflow.cache.staleness import StaleReason
from ascendflow.documents.json_file import json_text
from ascendflow.plan import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ascendflow.build.project import Project
    from ascendflow.documents.record import Record
    from ascendflow.documents.warnings import StageWarning, WarningsDocument
    from ascendflow.plan import Plan

    Known = Mapping[tuple[str, str], Record]


def recorded_warnings(
    project: Project, plan: Plan, stage: str, known: Known
) -> list[StageWarning] | None:
    """List the warnings of one stage, as recorded; None where it has no record.

    Args:
        project: where the records lie.
        plan: the run.
        stage: whose warnings.
        known: (run, stage) -> record, of stages whose records need not be read again.
    """
    record = known.get((plan.run_name, stage))
    if record is None:
        read = read_record(f"{project.stage_path(plan, stage)}/{RECORD}")
        if isinstance(read, StaleReason):
            return None
        record = read
    return [{"stage": stage, "text": text} for text in record["warnings"]]


def warnings_document(
    project: Project, plan: Plan, stages: Iterable[str], known: Known = MappingProxyType({})
) -> bytes | None:
    """Spell the warnings of these stages, in their order; None where one has no record."""
    told: list[StageWarning] = []
    for stage in stages:
        if (warnings := recorded_warnings(project, plan, stage, known)) is None:
            return None
        # Of one backend, whose name would make another key of the same.
        told += [{"stage": kind_of(stage), "text": each["text"]} for each in warnings]
    document: WarningsDocument = {"schema_version": 1, "warnings": told}
    return json_text(document).encode("ascii")
