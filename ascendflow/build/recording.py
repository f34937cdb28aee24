"""From what a child left to a record: outputs into the store, reads into digests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.build.moved import refuse_edited_reads
from ascendflow.cache.reads import digest_reads
from ascendflow.cache.record import make_record
from ascendflow.cache.tree import output_of
from ascendflow.errors import InternalError

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
    reads = digest_reads(names, project.places_of(plan).path, project.index)
    # Not before the digests: what is edited in between would be recorded as what was read.
    refuse_edited_reads(project, plan, stage, run)
    outputs = {}
    for role, kept in _kept_files(project, plan, stage, run).items():
        for file in kept.values():  # the store may have been emptied since it was made
            project.store.add_file(file, project.index.digest(file))
        with project.store.copying(run.output(role)) as copies:
            made = project.index.tree(run.output(role))
            project.store.add(run.output(role), made, copies)
        outputs[role] = _output(project, made, kept)
    warnings, facts = run.result["warnings"], run.result["facts"]
    return make_record(preimage, reads, outputs, warnings=warnings, facts=facts)


def made_outputs(
    project: Project, plan: Plan, stage: PlannedStage, run: Execution
) -> dict[str, Output]:
    """Digest what a child left, and store nothing."""
    return {
        role: _output(project, project.index.tree(run.output(role)), kept)
        for role, kept in _kept_files(project, plan, stage, run).items()
    }


def _output(
    project: Project, made: Mapping[str, FileEntry], kept: Mapping[str, Path]
) -> Output:
    same = {path: project.index.tree(file)[""] for path, file in kept.items()}
    return output_of({**made, **same})


def _kept_files(
    project: Project, plan: Plan, stage: PlannedStage, run: Execution
) -> dict[str, dict[str, Path]]:
    """Find, by role and path, the files of an input that stand for one of an output."""
    kept: dict[str, dict[str, Path]] = {role: {} for role in stage.outputs}
    for output, source in run.result["kept"].items():
        role, _, path = output.partition("/")
        folder = project.artifact(plan, stage.inputs[source["role"]], source["role"])
        if source["path"] not in project.index.tree(folder) or role not in kept:
            raise InternalError(f"{stage.name}: kept file {output!r} is in no input")
        kept[role][path] = folder / source["path"]
    return kept
