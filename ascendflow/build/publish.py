"""Put a stage's artifacts into `build/`, whole or not at all, and take them away."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING
from uuid import uuid4

from ascendflow.build.project import LOG, RECORD, WORK
from ascendflow.cache.files import remove, write_disposable
from ascendflow.cache.record import save_record
from ascendflow.cache.tree import is_folder
from ascendflow.errors import AscendflowError
from ascendflow.plan import named
from ascendflow.vocabulary import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.build.project import Project
    from ascendflow.documents.record import FileEntry, Record
    from ascendflow.plan import Plan

JUDGING = ("gate", "report", "contrast")
OUT = "out"
"""Where a child leaves its artifacts, in its work folder."""


def new_work_folder(project: Project, plan: Plan, stage: str) -> Path:
    """Make an empty folder beside the artifacts, on the same file system."""
    work = project.build_folder(plan.run_name) / WORK / f"{stage}-{uuid4().hex[:12]}"
    work.mkdir(parents=True)
    return work


def clear_work(project: Project, run_name: str) -> None:
    """Remove the work folders that a killed run left; nobody else may work there now."""
    shutil.rmtree(project.build_folder(run_name) / WORK, ignore_errors=True)


def withdraw(project: Project, plan: Plan, stage: str) -> None:
    """Take the stage's own outputs, the verdict and the report out of `build/`.

    So a verdict never outlives what it judged. What comes before the stage stays, and what
    was judged of another backend.
    """
    _remove(project.stage_folder(plan, stage))
    for name in withdrawn_with(plan, stage):
        if _remove(project.stage_folder(plan, name)):
            _say_by_whom(project, plan, name, stage)
    withdraw_strays(project, plan)


def _say_by_whom(project: Project, plan: Plan, name: str, stage: str) -> None:
    """Note which stage took a verdict out, for who asks why it is not there."""
    with suppress(AscendflowError):  # then it is only not there
        write_disposable(project.withdrawal_path(plan, name), stage.encode())


def withdraw_strays(project: Project, plan: Plan) -> None:
    """Take out verdicts and reports of stages that the plan no longer has.

    A manifest that names other backends than before has stages of other names.
    """
    for stage in stray_judgements(project, plan):
        _remove(project.stage_folder(plan, stage))


def stray_judgements(project: Project, plan: Plan) -> list[str]:
    """Name the stages whose verdicts and reports lie there, and which the plan has not."""
    planned = {stage.name for stage in plan.stages}
    judging = (named(kind, branch) for kind in JUDGING for branch in ("", *BACKENDS))
    return [
        name
        for name in judging
        if name not in planned and os.path.lexists(project.stage_path(plan, name))
    ]


def withdrawn_with(plan: Plan, stage: str) -> list[str]:
    """Name the stages that judge what it makes, and no other: that may just be at work."""
    waiting = {stage}
    for each in plan.stages:  # producers first
        if not waiting.isdisjoint(each.after):
            waiting.add(each.name)
    return [
        each.name
        for each in plan.stages
        if each.kind in JUDGING and each.name in waiting - {stage}
    ]


def _remove(folder: Path) -> bool:
    """Remove what is there, so that at no moment half of it can be taken for the whole.

    Returns whether anything was.
    Its blocks are freed beside what goes on: for a large model that takes a while. What
    stays, should this process be killed, `clear_work` takes.
    """
    if is_there := os.path.lexists(folder):
        gone = folder.parent / WORK / f"gone-{uuid4().hex[:12]}"
        gone.parent.mkdir(exist_ok=True)
        try:
            folder.rename(gone)
        except FileNotFoundError:  # another branch takes the same verdicts out just now
            return False
        free = partial(shutil.rmtree, gone, ignore_errors=True)
        try:
            Thread(target=free).start()
        except RuntimeError:  # no more threads
            free()
    return is_there


def publish(project: Project, plan: Plan, stage: str, record: Record, work: Path) -> None:
    """Put a record's outputs into `build/`, with the record and a log.

    Args:
        project: whose store and `build/`.
        plan: the run whose folder it is.
        stage: whose record it is; a stage of another backend may have an equal one.
        record: what to publish.
        work: a work folder. Its `out/` with the artifacts that a child has left, as they
            were just digested, becomes the stage's folder: whole, since a file that is
            moved by itself counts as changed just now. What is not there comes from the
            store, verified.

    Raises:
        CacheIntegrityError: a blob is missing or corrupt; `build/` is as it was.
    """
    prepared = work / OUT
    prepared.mkdir(exist_ok=True)
    for name in os.listdir(prepared):
        if name not in record["outputs"]:
            remove(str(prepared / name))
    restored = {
        role: _fetch(project, output["files"], prepared / role)
        for role, output in record["outputs"].items()
    }
    if (work / LOG).exists():
        shutil.copyfile(work / LOG, prepared / LOG)
    else:
        (prepared / LOG).write_text(f"restored from the store, key {record['key']}\n")
    save_record(record, prepared / RECORD)
    target = project.stage_folder(plan, stage)
    _remove(target)
    prepared.rename(target)
    remove(project.withdrawal_path(plan, stage))
    _remember(project, record, restored, prepared, target)


def _fetch(project: Project, files: Mapping[str, FileEntry], target: Path) -> set[str]:
    """Restore what is not there, or not as it was digested; returns what was restored."""
    if not _is_as_digested(project, files, target):
        project.store.restore(files, target)
        return set(files)
    missing = {path for path in files if path and not os.path.lexists(target / path)}
    for path in missing:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        project.store.restore_file(files[path]["digest"], target / path)
    return missing


def _is_as_digested(project: Project, files: Mapping[str, FileEntry], target: Path) -> bool:
    """Whether nothing wrote there since; what outlived the child may."""
    try:
        there = project.index.tree(target)
    except (OSError, AscendflowError):
        return False
    return there.items() <= files.items()


def _remember(
    project: Project,
    record: Record,
    restored: Mapping[str, set[str]],
    prepared: Path,
    target: Path,
) -> None:
    """Enter what was put there in the index, so that it is not read again."""
    copied: dict[str, str] = {}
    moved: dict[str, str] = {}
    for role, output in record["outputs"].items():
        for path, entry in output["files"].items():
            name = os.path.join(role, path) if path else role
            if path not in restored[role]:
                moved[os.path.join(target, name)] = os.path.join(prepared, name)
            elif not is_folder(path):
                copied[os.path.join(target, name)] = entry["digest"]
    project.index.carry(moved)
    project.index.remember(copied)


def keep_log(project: Project, plan: Plan, stage: str, work: Path) -> Path:
    """Keep the log of a failed stage where a user looks for it; returns its path."""
    folder = project.stage_folder(plan, stage)
    folder.mkdir(parents=True, exist_ok=True)
    if (work / LOG).exists():
        shutil.copyfile(work / LOG, folder / LOG)
    return folder / LOG


def note_refusal(project: Project, plan: Plan, stage: str, error: AscendflowError) -> None:
    """Leave as the log what refused a stage before it ran, for who asks why it is stale."""
    folder = project.stage_folder(plan, stage)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LOG).write_text(f"{error}\n", encoding="utf-8")
