"""Is a stage up to date, and if not, why: its key now against its last record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.cache.fingerprint import base_of, fingerprint, key_of
from ascendflow.cache.reads import redigest
from ascendflow.cache.record import load_record
from ascendflow.cache.staleness import (
    StaleReason,
    compare_fingerprints,
    compare_outputs,
    compare_reads,
)
from ascendflow.cache.tools import versions
from ascendflow.cache.tree import output_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ascendflow.build.project import Project
    from ascendflow.documents.record import Fingerprint, Output, Record
    from ascendflow.plan import Plan, PlannedStage

RECORD = "record.json"
SEED = 0


@dataclass(frozen=True)
class Judgement:
    """What a stage's key would be now, and what differs from its last record.

    Attributes:
        reasons: why it is stale; empty means up to date.
        record: its last record, or None where there is none that can be read.
    """

    reasons: tuple[StaleReason, ...]
    record: Record | None

    @property
    def is_up_to_date(self) -> bool:
        """Whether nothing has to be done."""
        return not self.reasons


def judge(project: Project, plan: Plan, stage: PlannedStage) -> Judgement:
    """Judge one stage by what lies in `build/` and the repository now.

    A missing input is a reason, not an error.

    Raises:
        AscendflowError: a tool that belongs in the key is not installed.
    """
    folder = project.stage_folder(plan, stage.name)
    record = load_record(folder / RECORD)
    inputs = input_digests(project, plan, stage)
    missing = [role for role, digest in inputs.items() if digest is None]
    if missing:
        reasons = tuple(StaleReason("input_missing", role) for role in missing)
        return Judgement(reasons, None if isinstance(record, StaleReason) else record)
    if isinstance(record, StaleReason):
        return Judgement((record,), None)
    now = stage_fingerprint(project, stage, inputs)
    reads = redigest(record["reads"], project.places_of(plan).resolve, project.index)
    made = {role: _output(project, folder / role) for role in stage.outputs}
    reasons = (
        *compare_fingerprints(record["fingerprint"], now),
        *compare_reads(record["reads"], reads),
        *compare_outputs(record["outputs"], made),
    )
    if not reasons and key_of(base_of(now), reads) != record["key"]:
        reasons = (StaleReason("record_unreadable", "its key is not that of its content"),)
    return Judgement(reasons, record)


def input_digests(
    project: Project, plan: Plan, stage: PlannedStage
) -> dict[str, str | None]:
    """Digest the inputs of a stage, artifacts and declared files; None is missing."""
    digests: dict[str, str | None] = {}
    for role, producer in stage.inputs.items():
        output = _output(project, project.artifact(plan, producer, role))
        digests[role] = None if output is None else output["digest"]
    places = project.places_of(plan)
    for role, name in stage.files.items():
        output = _output(project, places.resolve(name))
        digests[role] = None if output is None else output["digest"]
    return digests


def _output(project: Project, path: str | os.PathLike[str]) -> Output | None:
    """Digest what lies at `path`, a file or a folder; None where nothing does."""
    try:
        return output_of(project.index.tree(path))
    except OSError:
        return None


def stage_fingerprint(
    project: Project, stage: PlannedStage, inputs: Mapping[str, str | None]
) -> Fingerprint:
    """Make the fingerprint of a stage whose inputs, none missing, have these digests."""
    return fingerprint(
        stage=stage.name,
        code=project.code.of(stage.modules).digest,
        config=stage.config,
        inputs={role: digest for role, digest in inputs.items() if digest is not None},
        tools=versions(stage.tools),
        environment={"OMP_NUM_THREADS": str(stage.threads), **stage.environment},
        floats=stage.computes_floats,
        seed=SEED,
    )
