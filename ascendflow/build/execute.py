"""Run one stage in a child process, and read what it says."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascendflow import errors
from ascendflow.build.judge import SEED
from ascendflow.build.moved import moment
from ascendflow.build.warned import warnings_document
from ascendflow.child.command import child_argv, child_environment
from ascendflow.child.result import UNWRITTEN
from ascendflow.documents.json_file import write_json
from ascendflow.errors import AscendflowError, InternalError, ToolFailedError
from ascendflow.plan import WARNINGS
from ascendflow.process import Limits, run_child

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ascendflow.build.moved import Moment
    from ascendflow.build.project import Project
    from ascendflow.plan import Plan, PlannedStage
    from ascendflow.process import ExitStatus

WAYS_ROUND = {"simplify": "set simplify.enabled: false to do without onnxsim"}
"""Stage -> what to do where its child crashes, runs for ever or eats all memory."""


@dataclass(frozen=True)
class Execution:
    """A child that ended well.

    Attributes:
        work: its folder: spec.json, result.json, log.txt, out/.
        result: what result.json holds.
        wall_s: how long it took.
        started: when it was about to start.
    """

    work: Path
    result: dict[str, Any]
    wall_s: float
    started: Moment

    def output(self, role: str) -> Path:
        """Where the child left the artifact `role`."""
        return self.work / "out" / role


def execute(
    project: Project,
    plan: Plan,
    stage: PlannedStage,
    work: Path,
    *,
    heartbeat: Callable[[float], None],
) -> Execution:
    """Run `stage` in the empty folder `work`.

    Raises:
        AscendflowError: what the stage refused, or how its child ended.
        InternalError: a bug in the stage; its traceback is in the log.
    """
    (work / "out").mkdir(parents=True)
    spec = _spec(project, plan, stage, work)
    write_json(work / "spec.json", spec)
    started = moment(work / "spec.json")
    status = run_child(
        child_argv(work / "spec.json"),
        cwd=work,
        environment=child_environment(stage.environment, threads=stage.threads),
        log=work / "log.txt",
        limits=Limits(timeout_s=stage.timeout_s, memory_gb=stage.memory_gb),
        on_heartbeat=heartbeat,
    )
    result = _result(work)
    if result is not None and not result["ok"]:
        raise _error(result["error"], stage)
    if result is None or status.returncode != 0:
        told = f"{stage.name}: {_how_it_ended(status)}"
        raise ToolFailedError(told, hint=WAYS_ROUND.get(stage.kind))
    return Execution(work, result, status.wall_s, started)


def _spec(project: Project, plan: Plan, stage: PlannedStage, work: Path) -> dict[str, Any]:
    def relative(path: str | os.PathLike[str]) -> str:
        return os.path.relpath(path, work)

    names = project.places_of(plan)
    inputs = {
        role: project.artifact(plan, made_by, role)
        for role, made_by in stage.inputs.items()
    }
    if stage.warnings_of:
        inputs[WARNINGS] = work / WARNINGS
        # Where a record is gone by now, the digests of the inputs will say that it moved.
        told = warnings_document(project, plan, stage.warnings_of) or b""
        inputs[WARNINGS].write_bytes(told)
    folder = project.repository / plan.folder
    return {
        "schema_version": 1,
        "stage": stage.kind,
        "config": stage.config,
        "inputs": {role: relative(path) for role, path in inputs.items()},
        "files": {
            role: relative(names.resolve(name)) for role, name in stage.files.items()
        },
        "outputs": {role: f"out/{role}" for role in stage.outputs},
        "folder": relative(folder),
        "repository": relative(project.repository),
        "roots": {name: relative(root) for name, root in plan.roots.items()},
        "python_path": [relative(folder), relative(project.repository)],
        "modules": sorted(project.code.of(stage.modules).modules),
        "seed": SEED,
    }


def _result(work: Path) -> dict[str, Any] | None:
    """Read result.json; None where the child did not get to write it."""
    try:
        result: dict[str, Any] = json.loads(
            (work / "result.json").read_text(encoding="utf-8")
        )
    except (FileNotFoundError, ValueError):
        return None
    return result


def _error(error: dict[str, Any], stage: PlannedStage) -> Exception:
    """Make the exception again that ended the child."""
    kind = getattr(errors, error["kind"], None)
    if isinstance(kind, type) and issubclass(kind, AscendflowError):
        keys = tuple(error.get("keys", ()))
        return kind(error["message"], hint=error["hint"], keys=keys)
    return InternalError(f"{stage.name}: {error['message']}")


def _how_it_ended(status: ExitStatus) -> str:
    if status.returncode == UNWRITTEN:
        return (
            "its child process could not write its result: the disk is full, or user code "
            "closed its files or removed its folder"
        )
    said = status.explanation or f"exited with status {status.returncode} and said nothing"
    return f"its child process {said}"
