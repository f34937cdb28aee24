"""Takes a manifest to its plan, or an ONNX file through every stage, in this process."""

from __future__ import annotations

import json
import shutil
import traceback
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ascendflow.child.failures import describe
from ascendflow.errors import AscendflowError, ManifestError, UsageError
from ascendflow.plan import OF_SEVERAL
from ascendflow.stages import STAGES, load_stage
from ascendflow.stages.stage import Findings, StageContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ascendflow.manifest.load import LoadedManifest

STAGE_NAMES = tuple(name for name, _ in STAGES if name not in ("report", *OF_SEVERAL))
"""All but the page, which takes half a second and is no different for a strange model."""


@dataclass(frozen=True)
class Verdict:
    """How far one file came.

    Attributes:
        how: "passed"; "refused", in words for a user; or "bug": an exception of ours.
        stage: where it ended: "init", a stage, or "" where it passed.
        said: the message, or a bug's traceback.
        exit_code: what doit would exit with.
    """

    how: str
    stage: str = ""
    said: str = ""
    exit_code: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def travel(
    file: Path,
    repository: Path,
    *,
    enter: Callable[[str], None] = lambda _: None,
    stages: tuple[str, ...] = STAGE_NAMES,
) -> Verdict:
    """Start a pipeline from `file` and run its stages, as doit would in children.

    Args:
        file: the ONNX file.
        repository: an empty folder; all that is written must lie there.
        enter: told each stage before it runs, so that a crash has a place.
        stages: those to run, in order.
    """
    from ascendflow.manifest.init import initialise

    enter("init")
    try:
        initialise("net", repository=repository, commands=(), onnx=file)
    except UsageError as error:
        return Verdict("refused", "init", str(error), error.exit_code)
    except BaseException:  # noqa: BLE001 - MemoryError and RecursionError are findings too
        return Verdict("bug", "init", traceback.format_exc())
    return again(repository, enter=enter, stages=stages)


def again(
    repository: Path,
    *,
    enter: Callable[[str], None] = lambda _: None,
    stages: tuple[str, ...] = STAGE_NAMES,
) -> Verdict:
    """Run the stages of what `travel` started; the manifest may have been edited."""
    from ascendflow.manifest.load import load_manifest

    path = repository / "pipelines" / "net" / "manifest.yaml"
    try:
        loaded = load_manifest(path, repository=repository, roots={})
    except BaseException:  # noqa: BLE001 - `init` wrote what does not load
        return Verdict("bug", "init", traceback.format_exc())
    return run_stages(loaded, repository, enter=enter, stages=stages)


def load(
    content: bytes, repository: Path, *, enter: Callable[[str], None] = lambda _: None
) -> Verdict:
    """Load a manifest, and plan: what is planned must be JSON that anyone can read."""
    from ascendflow.manifest.backends import alone
    from ascendflow.manifest.load import load_manifest
    from ascendflow.manifest.slices import SLICES

    folder = repository / "pipelines" / "pan"
    data = repository / "data"
    for place in (folder, data / "inputs"):
        place.mkdir(parents=True)
    files = {"model.py": "build", "data.py": "test_samples", "metric.py": "mean_iou"}
    for name, factory in files.items():
        (folder / name).write_text(f"def {factory}(): ...\n")
    for name in ("weights.pt", "det.onnx"):
        (folder / name).touch()
    (data / "weights.pt").touch()
    file = folder / "manifest.yaml"
    file.write_bytes(content)
    enter("load")
    try:
        loaded = load_manifest(file, repository=repository, roots={"data": data})
        for backend in loaded.manifest.convert.backend:
            told = alone(loaded, backend).manifest
            for cut in SLICES.values():
                text = json.dumps(cut(told), allow_nan=False, ensure_ascii=False)
                text.encode()
    except ManifestError as error:
        return Verdict("refused", "load", str(error), error.exit_code)
    except BaseException:  # noqa: BLE001 - MemoryError and RecursionError are findings too
        return Verdict("bug", "load", traceback.format_exc())
    return Verdict("passed")


def run_stages(
    loaded: LoadedManifest,
    repository: Path,
    *,
    enter: Callable[[str], None] = lambda _: None,
    stages: tuple[str, ...] = STAGE_NAMES,
) -> Verdict:
    """Run stage after stage in this process; what one raises is told as its child would."""
    made: dict[str, Path] = {}
    for name in stages:
        enter(name)
        try:
            made |= _run(name, loaded, repository, made)
        except AscendflowError as error:
            return Verdict("refused", name, str(error), error.exit_code)
        except BaseException as error:  # noqa: BLE001 - whatever a stage raises
            document: Any = describe(error, lambda _: None)["error"]
            if document["kind"] != "InternalError":
                return Verdict("refused", name, document["message"], 2)
            return Verdict("bug", name, traceback.format_exc(), 2)
    return Verdict("passed")


def _run(
    name: str, loaded: LoadedManifest, repository: Path, made: Mapping[str, Path]
) -> dict[str, Path]:
    from ascendflow.backends import load_backend
    from ascendflow.manifest.slices import SLICES

    stage = load_stage(name)
    out = repository / "build" / "net" / name
    out.mkdir(parents=True)
    config = SLICES[name](loaded.manifest)
    outputs = {role: out / role for role in stage.produces}
    warnings = repository / "warnings.json"
    warnings.write_text('{"schema_version": 1, "warnings": []}')
    inputs = {**made, "warnings.json": warnings}
    findings = Findings()
    stage().run(
        StageContext(
            config=config,
            inputs={role: inputs[role] for role in stage.consumes},
            files=loaded.files.get(name, {}),
            outputs=outputs,
            folder=repository / "pipelines" / "net",
            backend=load_backend(config["backend"]) if "backend" in config else None,
            seed=0,
            findings=findings,
        )
    )
    for path, kept in findings.kept.items():  # as publishing does
        shutil.copyfile(inputs[kept.role] / kept.path, out / path)
    return outputs
