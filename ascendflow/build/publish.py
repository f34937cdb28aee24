"""Put a stage's artifacts into `build/`, whole or not at all, and take them away."""

from __future__ import annotations

import os
import shutil
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING
from uuid import uuid4

from ascendflow.build.project import LOG, RECORD, WORK
from ascendflow.cache.record import save_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.build.project import Project
    from ascendflow.documents.record import FileEntry, Record
    from ascendflow.plan import Plan

JUDGING = ("gate", "report")


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

    So a verdict never outlives what it judged. What comes before the stage stays.
    """
    names = [planned.name for planned in plan.stages]
    after = names[names.index(stage) + 1 :]
    for name in (stage, *(judging for judging in JUDGING if judging in after)):
        _remove(project.stage_folder(plan, name))


def _remove(folder: Path) -> None:
    """Remove what is there so that at no moment half of it can be taken for the whole.

    Its blocks are freed beside what goes on: for a large model that takes a while. What
    stays, should this process be killed, `clear_work` takes.
    """
    if os.path.lexists(folder):
        gone = folder.parent / WORK / f"gone-{uuid4().hex[:12]}"
        gone.parent.mkdir(exist_ok=True)
        folder.rename(gone)
        remove = partial(shutil.rmtree, gone, ignore_errors=True)
        try:
            Thread(target=remove).start()
        except RuntimeError:  # no more threads
            remove()


def publish(project: Project, plan: Plan, record: Record, work: Path) -> None:
    """Put a record's outputs into `build/`, with the record and a log.

    Args:
        project: whose store and `build/`.
        plan: the run whose folder it is.
        record: what to publish.
        work: a work folder. Artifacts that a child has left in its `out/` are moved, as
            they were just digested; what is not there comes from the store, verified.

    Raises:
        CacheIntegrityError: a blob is missing or corrupt; `build/` is as it was.
    """
    prepared = work / "publish"
    prepared.mkdir()
    for role, output in record["outputs"].items():
        _fetch(project, output["files"], work / "out" / role, prepared / role)
    if (work / LOG).exists():
        shutil.copyfile(work / LOG, prepared / LOG)
    else:
        (prepared / LOG).write_text(f"restored from the store, key {record['key']}\n")
    save_record(record, prepared / RECORD)
    target = project.stage_folder(plan, record["stage"])
    _remove(target)
    prepared.rename(target)
    _remember(project, record, target)


def _fetch(
    project: Project, files: Mapping[str, FileEntry], made: Path, target: Path
) -> None:
    if not made.exists():
        project.store.restore(files, target)
        return
    made.rename(target)
    for path, entry in files.items():
        if path and not os.path.lexists(target / path):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            project.store.restore_file(entry["digest"], target / path)


def _remember(project: Project, record: Record, target: Path) -> None:
    """Enter what was just copied in the index, so that it is not read again."""
    project.index.remember(
        {
            os.path.join(target, role, path) if path else os.path.join(target, role): (
                entry["digest"]
            )
            for role, output in record["outputs"].items()
            for path, entry in output["files"].items()
            if not path.endswith("/")
        }
    )


def keep_log(project: Project, plan: Plan, stage: str, work: Path) -> Path:
    """Keep the log of a failed stage where a user looks for it; returns its path."""
    folder = project.stage_folder(plan, stage)
    folder.mkdir(parents=True, exist_ok=True)
    if (work / LOG).exists():
        shutil.copyfile(work / LOG, folder / LOG)
    return folder / LOG
