"""From what a child left to a record: outputs into the store, reads into digests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ascendflow.cache.reads import digest_reads
from ascendflow.cache.record import make_record
from ascendflow.cache.tree import output_of
from ascendflow.errors import InternalError, StageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.build.execute import Execution
    from ascendflow.build.project import Project
    from ascendflow.documents.record import FileEntry, Fingerprint, Output, Reads, Record
    from ascendflow.plan import Plan, PlannedStage


def record_of(
    project: Project, plan: Plan, stage: PlannedStage, preimage: Fingerprint, run: Execution
) -> Record:
    """Store a child's outputs and say what they were made from.

    Raises:
        AscendflowError: what the stage read was edited while it ran, or is gone.
    """
    said = run.result["reads"]
    names: Reads = {
        "files": dict.fromkeys(said["files"], ""),
        "folders": dict.fromkeys(said["folders"], ""),
        "missing": said["missing"],
        "distributions": dict.fromkeys(run.result["distributions"], ""),
    }
    reads = digest_reads(names, project.places_of(plan).resolve, project.index)
    # Not before the digests: what is edited in between would be recorded as what was read.
    _refuse_edited_reads(project, plan, stage, run)
    kept = _kept_files(project, plan, stage, run)
    _store_kept(project, plan, stage, run)
    outputs = {
        role: output_of({**project.store.add(run.output(role)), **files})
        for role, files in kept.items()
    }
    warnings, facts = run.result["warnings"], run.result["facts"]
    return make_record(preimage, reads, outputs, warnings=warnings, facts=facts)


def made_outputs(
    project: Project, plan: Plan, stage: PlannedStage, run: Execution
) -> dict[str, Output]:
    """Digest what a child left, and store nothing."""
    return {
        role: output_of({**project.index.tree(run.output(role)), **kept})
        for role, kept in _kept_files(project, plan, stage, run).items()
    }


def _refuse_edited_reads(
    project: Project, plan: Plan, stage: PlannedStage, run: Execution
) -> None:
    resolve = project.places_of(plan).resolve
    # Compared with a file made just before the child: both times are the file system's.
    started_ns = os.stat(run.work / "spec.json").st_ctime_ns
    said = run.result["reads"]
    edited = [
        name
        for name in (*said["files"], *said["folders"])
        if _changed_since(resolve(name), started_ns)
    ]
    if edited:
        raise StageError(
            f"{stage.name}: {', '.join(edited)} was edited while the stage ran, "
            "so nothing was recorded",
            hint="run the same command again",
        )


def _changed_since(path: Path, started_ns: int) -> bool:
    """Whether what is there is newer, or a link on the way, which may lead elsewhere."""
    try:
        links = [way for way in (path, *path.parents) if way.is_symlink()]
        stats = [path.stat(), *(link.lstat() for link in links)]
    except OSError:
        return True
    return any(stat.st_ctime_ns > started_ns for stat in stats)


def _store_kept(project: Project, plan: Plan, stage: PlannedStage, run: Execution) -> None:
    """Put kept files into the store, which may have been emptied since their stage ran."""
    for source in run.result["kept"].values():
        role = source["role"]
        file = project.artifact(plan, stage.inputs[role], role) / source["path"]
        project.store.add_file(file, project.index.digest(file))


def _kept_files(
    project: Project, plan: Plan, stage: PlannedStage, run: Execution
) -> dict[str, Mapping[str, FileEntry]]:
    """Look up, by role, the files that equal one of an input: their digests are known."""
    kept: dict[str, dict[str, FileEntry]] = {role: {} for role in stage.outputs}
    for output, source in run.result["kept"].items():
        role, _, path = output.partition("/")
        producer = stage.inputs[source["role"]]
        tree = project.index.tree(project.artifact(plan, producer, source["role"]))
        if source["path"] not in tree or role not in kept:
            raise InternalError(f"{stage.name}: kept file {output!r} is in no input")
        kept[role][path] = tree[source["path"]]
    return dict(kept)
