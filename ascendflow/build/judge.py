"""Is a stage up to date, and if not, why: its key now against its last record."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.build.project import LOG, RECORD
from ascendflow.build.warned import warnings_document
from ascendflow.cache.digest import digest_bytes
from ascendflow.cache.fingerprint import base_of, fingerprint, key_of
from ascendflow.cache.reads import redigest
from ascendflow.cache.record import read_record, why_inconsistent
from ascendflow.cache.staleness import (
    StaleReason,
    compare_fingerprints,
    compare_outputs,
    compare_reads,
)
from ascendflow.cache.tools import versions
from ascendflow.cache.tree import output_of
from ascendflow.errors import AscendflowError
from ascendflow.plan import WARNINGS, made_as, modules_under

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.build.project import Project
    from ascendflow.documents.record import Fingerprint, Output, Reads, Record
    from ascendflow.plan import Plan, PlannedStage

SEED = 0


class Judgement(NamedTuple):
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
    folder = project.stage_path(plan, stage.name)
    record = read_record(f"{folder}/{RECORD}")
    if isinstance(record, StaleReason) and record.kind == "never_built":
        record = _why_none(project, plan, stage)
    inputs = input_digests(project, plan, stage, known=project.standing)
    missing = [role for role, digest in inputs.items() if digest is None]
    if missing:
        reasons = tuple(StaleReason("input_missing", role) for role in missing)
        return Judgement(reasons, None if isinstance(record, StaleReason) else record)
    if isinstance(record, StaleReason):
        return Judgement((record,), None)
    now = stage_fingerprint(project, stage, inputs)
    reads = redigest(record["reads"], project.places_of(plan).path, project.index)
    made = {role: _output(project, f"{folder}/{role}") for role in stage.outputs}
    if _holds(record, now, reads, made):
        project.standing[plan.run_name, stage.name] = record
        return Judgement((), record)
    return _differences(record, _with_its_code(project, stage, record, now), reads, made)


def _why_none(project: Project, plan: Plan, stage: PlannedStage) -> StaleReason:
    """Say why a stage has no record: a failed one leaves a folder with its log at most."""
    folder = project.stage_path(plan, stage.name)
    try:
        left = os.listdir(folder)
    except OSError:
        return _why_no_folder(project, plan, stage)
    if left == [LOG]:
        where = os.path.relpath(f"{folder}/{LOG}", project.repository)
        return StaleReason("failed", f"; its log is {where}")
    return StaleReason("never_built") if left else StaleReason("failed")


def _why_no_folder(project: Project, plan: Plan, stage: PlannedStage) -> StaleReason:
    """Say by which stage it was taken out, if it was."""
    try:
        with open(project.withdrawal_path(plan, stage.name), encoding="utf-8") as file:
            by = file.read()
    except (OSError, ValueError):
        return StaleReason("never_built")
    if by not in {each.name for each in plan.stages}:
        return StaleReason("never_built")
    return StaleReason("withdrawn", plan.task_of(by))


def _holds(
    record: Record, now: Fingerprint, reads: Reads, made: Mapping[str, Output | None]
) -> bool:
    """Whether a record says what is there now, and no field of it contradicts another."""
    if (record["fingerprint"], record["reads"], record["outputs"]) != (now, reads, made):
        return False
    # Not only equal: 1, 1.0 and true are, and have other digests.
    return (
        record["stage"] == now["stage"]
        and record["base"] == (base := base_of(now))
        and record["key"] == key_of(base, reads)
    )


def _with_its_code(
    project: Project, stage: PlannedStage, record: Record, now: Fingerprint
) -> Fingerprint:
    """Give the fingerprint the record's code where another slice alone chose other modules.

    Then no code was edited, and the slice says what changed.
    """
    was = record["fingerprint"]
    code, config = was.get("code", ""), was.get("config")
    if code == now["code"] or not isinstance(config, dict) or config == now["config"]:
        return now
    same = project.code_digest(modules_under(stage, config)) == code
    return {**now, "code": code} if same else now


def _differences(
    record: Record, now: Fingerprint, reads: Reads, made: Mapping[str, Output | None]
) -> Judgement:
    """Say what differs; a record that contradicts itself tells nothing."""
    if (problem := why_inconsistent(record)) is not None:
        return Judgement((StaleReason("record_unreadable", problem),), None)
    reasons = (
        *compare_fingerprints(record["fingerprint"], now),
        *compare_reads(record["reads"], reads),
        *compare_outputs(record["outputs"], made),
    )
    return Judgement(reasons, record)


def input_digests(
    project: Project,
    plan: Plan,
    stage: PlannedStage,
    *,
    known: Mapping[tuple[str, str], Record] = MappingProxyType({}),
) -> dict[str, str | None]:
    """Digest the inputs of a stage: artifacts, files, warnings; None is missing.

    Args:
        project: where they lie.
        plan: the run.
        stage: whose inputs.
        known: (run, stage) -> record, of stages whose outputs need no look.
    """
    digests: dict[str, str | None] = {}
    for role, producer in stage.inputs.items():
        if (record := known.get((plan.run_name, producer))) is not None:
            digests[role] = record["outputs"][made_as(role)]["digest"]
            continue
        path = f"{project.stage_path(plan, producer)}/{made_as(role)}"
        output = _output(project, path)
        digests[role] = None if output is None else output["digest"]
    places = project.places_of(plan)
    for role, name in stage.files.items():
        output = _output(project, places.path(name))
        digests[role] = None if output is None else output["digest"]
    if stage.warnings_of:
        told = warnings_document(project, plan, stage.warnings_of, known)
        digests[WARNINGS] = None if told is None else digest_bytes(told)
    return digests


def _output(project: Project, path: str) -> Output | None:
    """Digest what lies at `path`, a file or a folder; None where nothing of the kind does.

    What holds a link or a pipe is nothing that a stage can have made.
    """
    try:
        return output_of(project.index.tree(path))
    except (OSError, AscendflowError):
        return None


def stage_fingerprint(
    project: Project, stage: PlannedStage, inputs: Mapping[str, str | None]
) -> Fingerprint:
    """Make the fingerprint of a stage whose inputs, none missing, have these digests."""
    return fingerprint(
        stage=stage.kind,
        code=project.code_digest(stage.modules),
        config=stage.config,
        inputs={role: digest for role, digest in inputs.items() if digest is not None},
        tools=versions(stage.tools),
        environment={"OMP_NUM_THREADS": str(stage.threads), **stage.environment},
        floats=stage.computes_floats,
        seed=SEED,
    )
