"""`ascendflow init`: a new pipeline in any repository, and nothing overwritten."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ascendflow import vocabulary
from ascendflow.errors import UsageError
from ascendflow.manifest import checks, project, schema, templates
from ascendflow.manifest.onnx_file import OnnxFile, fixed_shapes, read_onnx, refuse_opset
from ascendflow.manifest.paths import read_roots
from ascendflow.manifest.problems import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True)
class Initialised:
    """What was done, as paths relative to the repository, and what is left to the user."""

    created: tuple[str, ...]
    edited: tuple[str, ...]
    notes: tuple[str, ...]
    lacks_tasks: bool = False
    """Its dodo.py was there, and does not import our tasks."""


@dataclass
class _Plan:
    """All that will be written; made whole before anything is."""

    repository: Path
    plugins: dict[tuple[str, ...], dict[str, str]]
    """Table of pyproject.toml -> its entries."""
    new: dict[Path, str | Path] = field(default_factory=dict)
    """Path -> its text, or the file to copy. Must not exist yet."""
    edits: dict[Path, str] = field(default_factory=dict)
    """Path -> its whole new text. May exist."""
    notes: list[str] = field(default_factory=list)

    def add(self, path: Path, content: str | Path) -> None:
        """Plan a new file; a second one of that name is refused."""
        if path in self.new:
            raise UsageError(f"two files would be written to {self.name(path)}")
        self.new[path] = content

    def name(self, path: Path) -> str:
        """Return a path as a reader of the repository knows it."""
        return path.relative_to(self.repository).as_posix()


def initialise(  # noqa: PLR0913  all but the model by name
    model: str,
    *,
    repository: Path,
    commands: Iterable[tuple[str, str]],
    databases: Iterable[tuple[str, str]] = (),
    onnx: Path | None = None,
    link: bool = False,
    shapes: Iterable[str] = (),
    why_refused: Callable[[Path], Iterable[str]] = lambda _: (),
) -> Initialised:
    """Write `pipelines/<model>/` and what `doit` needs to build it.

    Args:
        model: the new pipeline's name.
        repository: where dodo.py and pyproject.toml belong.
        commands: (name, "module:Class") of what `doit` learns by pyproject.toml.
        databases: the same, of what can keep doit's values.
        onnx: an ONNX file to start from; absent: a small PyTorch model to replace.
        link: refer to the ONNX file where it lies, instead of copying it.
        shapes: `name:1,3,480,640` for inputs with dynamic dimensions.
        why_refused: says of an ONNX file, which can be read, what a pipeline would.

    Raises:
        UsageError: something of this name exists, or the ONNX file does not do; then
            nothing was written.
    """
    _refuse_name("the model's name", model, checks.model_name)
    given = parse_shapes(shapes)
    if onnx is None and (link or given):
        raise UsageError("--link and --shape go with --onnx FILE")
    plugins: dict[tuple[str, ...], dict[str, str]] = {
        project.DATABASES_TABLE: dict(databases),
        project.COMMANDS_TABLE: dict(commands),
    }
    plan = _Plan(repository, plugins)
    folder = repository / "pipelines" / model
    if (folder / "manifest.yaml").exists():
        hint = "edit that one, or choose another name"
        if onnx is not None and not link:
            hint += f"; a file that was exported anew: copy it into pipelines/{model}/"
        raise UsageError(f"pipelines/{model}/manifest.yaml exists", hint=hint)
    if onnx is None:
        plan.add(folder / "manifest.yaml", templates.torch_manifest(model))
        for name, text in templates.TORCH_FILES:
            plan.add(folder / name, text)
    else:
        file = read_onnx(onnx)
        if problems := "; ".join(why_refused(onnx)):
            raise UsageError(f"{onnx}: {problems}")
        _plan_onnx(plan, folder, file, given, link=link)
    _plan_repository(plan)
    _refuse_existing(plan)
    _write(plan)
    return Initialised(
        tuple(sorted(map(plan.name, plan.new))),
        tuple(sorted(map(plan.name, plan.edits))),
        tuple(plan.notes),
        lacks_tasks="ascendflow.tasks" not in _text(repository / "dodo.py"),
    )


def parse_shapes(shapes: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Read `name:1,3,480,640`, as ATC and onnxsim spell it; `name:` is a scalar.

    Brackets around the sizes, as Polygraphy has them, do not matter.

    Raises:
        UsageError: a shape is not of this form, has a size below 0, or is given twice.
    """
    parsed: dict[str, tuple[int, ...]] = {}
    for text in shapes:
        name, colon, sizes = text.rpartition(":")
        if sizes.startswith("[") and sizes.endswith("]"):
            sizes = sizes[1:-1]
        if not colon or not re.fullmatch(
            r"(-?[0-9]{1,9}(,-?[0-9]{1,9})*)?", sizes, re.ASCII
        ):
            hint = "e.g. --shape image:1,3,480,640"
            raise UsageError(
                f"--shape must be name:size,size..., got {shown(text)}", hint=hint
            )
        shape = tuple(int(size) for size in sizes.split(",") if size)
        if any(size < 0 for size in shape):
            raise UsageError(f"--shape: each size must be 0 or more, got {shown(text)}")
        if name in parsed:
            raise UsageError(f"--shape: '{name}' is given twice")
        parsed[name] = shape
    return parsed


def _refuse_name(what: str, name: str, check: Callable[[str], str]) -> None:
    """Say of a bad name what the manifest would say of it, before it is written."""
    from pydantic_core import PydanticCustomError

    try:
        check(name)
    except PydanticCustomError as error:
        hint = (error.context or {}).get("hint")
        text = f"{what} {error.message()}, got {shown(name)}"
        raise UsageError(text, hint=hint) from error


def _plan_onnx(
    plan: _Plan,
    folder: Path,
    file: OnnxFile,
    given: Mapping[str, tuple[int, ...]],
    *,
    link: bool,
) -> None:
    refuse_opset(file, templates.CANN)
    shapes = fixed_shapes(file, given)
    for each in file.inputs:
        _refuse_name(f"{file.path.name}: an input's name", each.name, checks.input_name)
    source = _plan_link(plan, folder, file) if link else _plan_copy(plan, folder, file)
    inputs = [(each, shapes[each.name]) for each in file.inputs]
    text = templates.onnx_manifest(folder.name, source, inputs, file.tables)
    plan.add(folder / "manifest.yaml", text)
    plan.notes += [
        f"input '{name}' is empty, since a size in its shape is 0: little can be compared;"
        " if the file means any size by it, change its shape in the manifest"
        for name, shape in shapes.items()
        if 0 in shape
    ]


def _plan_copy(plan: _Plan, folder: Path, file: OnnxFile) -> str:
    """Plan to copy the file and its weights; those keep their names, which it refers to."""
    name = file.path.name
    if not re.fullmatch(r"[\w][\w .+-]*", name):
        name = f"{folder.name}.onnx"
    copies = {name: file.path, **file.external}
    if len(copies) != 1 + len(file.external):
        raise UsageError(f"{name} would be both the model and its external data")
    for location, path in copies.items():
        target = folder / PurePosixPath(location)
        if not (target.exists() and target.samefile(path)):
            plan.add(target, path)
    return name


def _plan_link(plan: _Plan, folder: Path, file: OnnxFile) -> str:
    """Refer to the file: by its path in the repository, or through a root."""
    path = file.path.resolve()
    repository = plan.repository.resolve()
    if path.is_relative_to(repository):
        return Path(os.path.relpath(path, folder.resolve())).as_posix()
    roots = read_roots(plan.repository)
    for name, root in roots.items():
        if path.is_relative_to(root.resolve()):
            return f"{name}:{path.relative_to(root.resolve()).as_posix()}"
    name = (
        re.sub(r"[^A-Za-z0-9_-]+", "-", path.parent.name).strip("-_0123456789") or "models"
    )
    while name in roots or name in vocabulary.PLACES:
        name += "-2"
    text = _text(plan.repository / "pyproject.toml")
    entries = {name: path.parent.as_posix()}
    plan.edits[plan.repository / "pyproject.toml"] = project.with_entries(
        text, project.ROOTS_TABLE, entries
    )
    return f"{name}:{path.name}"


def _plan_repository(plan: _Plan) -> None:
    """Plan dodo.py, the schema, and lines of pyproject.toml and .gitignore."""
    repository = plan.repository
    dodo = repository / "dodo.py"
    if not dodo.exists():
        plan.add(dodo, project.DODO)
    elif "ascendflow.tasks" not in _text(dodo):
        line = "from ascendflow.tasks import DOIT_CONFIG, task_pipelines"
        plan.notes.append(f"dodo.py exists and was left as it is; add the line: {line}")
    manifest_schema = repository / "schemas" / "manifest.schema.json"
    if not manifest_schema.exists():
        plan.add(manifest_schema, schema.read("manifest"))
    elif _text(manifest_schema) != schema.read("manifest"):
        plan.notes.append(
            "schemas/manifest.schema.json exists and is of another version of ascendflow;"
            " remove it and run `ascendflow schema write schemas` for this one's"
        )
    pyproject = repository / "pyproject.toml"
    text = plan.edits.get(pyproject, _text(pyproject))
    for table, entries in plan.plugins.items():
        text = project.with_entries(text, table, entries) if entries else text
    plan.edits[pyproject] = text
    ignore = repository / ".gitignore"
    plan.edits[ignore] = project.with_ignored(_text(ignore))
    for path in [path for path, text in plan.edits.items() if text == _text(path)]:
        del plan.edits[path]


def _refuse_existing(plan: _Plan) -> None:
    there = [plan.name(path) for path in plan.new if path.exists() or path.is_symlink()]
    if there:
        verb = "exists" if len(there) == 1 else "exist"
        hint = "nothing was written; choose another name, or move them away"
        raise UsageError(f"{', '.join(sorted(there))} {verb}", hint=hint)


def _write(plan: _Plan) -> None:
    """Write new files, then edits; what was made is taken back if one fails."""
    made: list[Path] = []
    try:
        for path, content in plan.new.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                made.append(path)
                if isinstance(content, str):
                    file.write(content.encode())
                else:
                    with content.open("rb") as source:
                        shutil.copyfileobj(source, file, 1 << 20)
        for path, text in plan.edits.items():
            path.write_bytes(text.encode())
    except OSError as error:
        for path in reversed(made):
            path.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise UsageError(f"{error.filename}: cannot be written: {reason}") from error


def _text(path: Path) -> str:
    """Read a file of the user's as it is, line ends included; empty if there is none."""
    try:
        return path.read_bytes().decode() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name}: cannot be read: {error}") from error
