"""Bring one stage up to date: restore it, or execute it; then publish and record."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ascendflow.build.execute import execute
from ascendflow.build.foreseen import refuse_foreseen
from ascendflow.build.judge import input_digests, stage_fingerprint
from ascendflow.build.log_ending import telling
from ascendflow.build.missing import refuse_missing
from ascendflow.build.moved import AGAIN, input_states, refuse_moved_inputs
from ascendflow.build.publish import (
    OUT,
    keep_log,
    new_work_folder,
    note_refusal,
    publish,
    withdraw,
)
from ascendflow.build.recording import made_outputs, record_of
from ascendflow.cache.fingerprint import base_of, key_of
from ascendflow.cache.reads import redigest
from ascendflow.errors import (
    AscendflowError,
    CacheIntegrityError,
    InternalError,
    StageError,
)
from ascendflow.plan import made_as
from ascendflow.process import tail

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from ascendflow.build.execute import Execution
    from ascendflow.build.project import Project
    from ascendflow.documents.record import Fingerprint, Output, Record
    from ascendflow.plan import Plan, PlannedStage


@dataclass(frozen=True)
class Outcome:
    """How a stage was satisfied.

    Attributes:
        how: "executed", "restored", or "repeated" for a forced run of an up-to-date stage.
        key: the key of its record.
        wall_s: how long its child took; 0 where none ran.
        warnings: what the stage said beside its artifacts.
        differing: roles that a repeated run made otherwise: the stage is not deterministic.
    """

    how: Literal["executed", "restored", "repeated"]
    key: str
    wall_s: float
    warnings: tuple[str, ...]
    differing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Caller:
    """Who wants a stage brought up.

    Attributes:
        asked: names of all stages that it is going to want, this one among them.
        about_to_run: called before a stage runs that was not restored.
        heartbeat: called with the elapsed seconds while a stage's child runs.
        say: told whom a stage has to wait for.
    """

    asked: Collection[str] = ()
    about_to_run: Callable[[], None] = lambda: None
    heartbeat: Callable[[float], None] = lambda _elapsed: None
    say: Callable[[str], None] = lambda _line: None


ANYBODY = Caller()


def bring_up(
    project: Project, plan: Plan, stage: PlannedStage, caller: Caller = ANYBODY
) -> Outcome:
    """Make a stale stage's outputs true again.

    The stage's old outputs, the verdict and the report leave `build/` first, so that what
    stops the stage leaves no verdict of an earlier build.

    Raises:
        ToolNotFoundError: a stage that the caller is going to want needs what is not here.
        AscendflowError: the stage refused or failed; its log is kept and named.
        InternalError: a bug in the stage.
    """
    withdraw(project, plan, stage.name)
    refuse_missing(plan, caller.asked, project.repository)
    try:
        refuse_foreseen(project, plan, stage.name)
    except AscendflowError as error:
        note_refusal(project, plan, stage.name, error)
        raise
    states = input_states(project, plan, stage)
    inputs = _present_inputs(project, plan, stage)
    now = stage_fingerprint(project, stage, inputs)
    with (
        project.store.lock(base_of(now), on_wait=_waiting(plan, stage, caller.say)),
        _work_folder(project, plan, stage.name) as work,
    ):
        if (record := _restore(project, plan, stage, base_of(now), work)) is not None:
            return Outcome("restored", record["key"], 0.0, tuple(record["warnings"]))
        caller.about_to_run()
        run = _execute(project, plan, stage, work, caller.heartbeat)
        refuse_moved_inputs(stage.name, inputs, input_digests(project, plan, stage))
        refuse_moved_inputs(stage.name, states, input_states(project, plan, stage))
        _refuse_edited_code(project, stage, now)
        record = record_of(project, plan, stage, now, run)
        standing = project.store.put_record(record)
        if standing["outputs"] != record["outputs"]:
            # Same key, other bytes: what was recorded first stays.
            shutil.rmtree(work / OUT)
        publish(project, plan, stage.name, standing, work)
        differing = _differing_roles(standing, record["outputs"])
        warnings = tuple(record["warnings"])
        return Outcome("executed", record["key"], run.wall_s, warnings, differing)


def repeat(
    project: Project,
    plan: Plan,
    stage: PlannedStage,
    record: Record,
    *,
    heartbeat: Callable[[float], None] = lambda _elapsed: None,
) -> Outcome:
    """Execute an up-to-date stage once more and compare; the recorded outputs stay."""
    with _work_folder(project, plan, stage.name) as work:
        run = _execute(project, plan, stage, work, heartbeat)
        made = made_outputs(project, plan, stage, run)
    return Outcome(
        "repeated",
        record["key"],
        run.wall_s,
        tuple(record["warnings"]),
        _differing_roles(record, made),
    )


def _waiting(
    plan: Plan, stage: PlannedStage, say: Callable[[str], None]
) -> Callable[[str], None]:
    task = plan.task_of(stage.name)
    return lambda holder: say(
        f"{task} is waiting for {holder}, which may be making the same"
    )


@contextmanager
def _work_folder(project: Project, plan: Plan, stage: str) -> Iterator[Path]:
    work = new_work_folder(project, plan, stage)
    try:
        yield work
    except FileNotFoundError as error:
        if work.is_dir():
            raise
        raise StageError(
            f"{stage}: {work.relative_to(project.repository)} was removed while it ran",
            hint=AGAIN,
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _differing_roles(record: Record, made: Mapping[str, Output]) -> tuple[str, ...]:
    """Name the roles that came out otherwise than recorded."""
    return tuple(
        role
        for role, output in record["outputs"].items()
        if made[role]["digest"] != output["digest"]
    )


def _present_inputs(project: Project, plan: Plan, stage: PlannedStage) -> dict[str, str]:
    inputs = input_digests(project, plan, stage)
    if missing := [role for role, digest in inputs.items() if digest is None]:
        where = [
            stage.files.get(role) or f"{stage.inputs.get(role, 'build')}/{made_as(role)}"
            for role in missing
        ]
        raise StageError(
            f"{stage.name}: input {', '.join(where)} does not exist",
            hint=f"run `doit model={plan.model}`, or put the file there",
        )
    return {role: digest for role, digest in inputs.items() if digest is not None}


def _restore(
    project: Project, plan: Plan, stage: PlannedStage, base: str, work: Path
) -> Record | None:
    """Publish a stored record whose reads still hold; None where there is none."""
    resolve = project.places_of(plan).path
    for record in project.store.records(base):
        if key_of(base, redigest(record["reads"], resolve, project.index)) != record["key"]:
            continue
        try:
            publish(project, plan, stage.name, record, work)
        except CacheIntegrityError:
            shutil.rmtree(work / OUT, ignore_errors=True)
            continue
        project.store.touch(record)
        return record
    return None


def _execute(
    project: Project,
    plan: Plan,
    stage: PlannedStage,
    work: Path,
    heartbeat: Callable[[float], None],
) -> Execution:
    try:
        return execute(project, plan, stage, work, heartbeat=heartbeat)
    except AscendflowError as error:
        log = keep_log(project, plan, stage.name, work)
        if lines := telling(log):
            error.log = _where(project, log, lines)
        raise
    except InternalError as error:
        log = keep_log(project, plan, stage.name, work)
        error.add_note(_where(project, log, tail(log).splitlines()))
        raise


def _where(project: Project, log: Path, lines: Sequence[str]) -> str:
    """Say where a log is, and how it ends."""
    ends = "; it ends:" if lines else ""
    there = f"its log is {log.relative_to(project.repository)}{ends}"
    return "\n    ".join([there, *lines])


def _refuse_edited_code(project: Project, stage: PlannedStage, now: Fingerprint) -> None:
    """Refuse what may have run newer code than this process found when it began."""
    if project.code_digest_now(stage.modules) != now["code"]:
        raise StageError(
            f"{stage.name}: code of ascendflow was edited since this run began, "
            "so nothing was recorded",
            hint=AGAIN,
        )
