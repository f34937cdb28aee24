"""manifest.yaml -> Manifest, or every problem of the file at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from ascendflow import atc_words, vocabulary
from ascendflow.errors import ManifestError, UsageError
from ascendflow.manifest import source as yaml
from ascendflow.manifest.aipp import in_our_words
from ascendflow.manifest.atc_options import NOT_TAKEN
from ascendflow.manifest.checks import SOC
from ascendflow.manifest.consistency import CONSISTENCY, threshold_hint
from ascendflow.manifest.factories import factory_problems
from ascendflow.manifest.models import Manifest
from ascendflow.manifest.onnx_ends import onnx_problems
from ascendflow.manifest.paths import (
    FILES,
    IF_AUTO,
    Places,
    locate,
    lookup,
    path_problems,
    spelled_out,
)
from ascendflow.manifest.precision_keys import MODES
from ascendflow.manifest.problems import Problem, closest_or_all, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from ascendflow.manifest.problems import Keys

MUST = {
    "string_type": "must be text",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "less_than": "must be below {lt}",
    "too_short": "must not be empty",
    "too_long": "must have {max_length} items",
    "ascendflow": "{must}",
}
"""pydantic's kinds of errors in our words."""


@dataclass(frozen=True)
class LoadedManifest:
    """A manifest that holds, and the files that it names.

    Attributes:
        manifest: with `soc=` and `precision=` applied.
        files: stage -> role -> absolute path, links resolved; all exist.
        leads: what `files` are called in the manifest -> where that leads, both absolute;
            a link may be turned elsewhere, and then `files` are others.
        file: the manifest itself, as messages name it.
        lines: way to a value -> its line, 1-based.
        overrides: what the command line put in place of the manifest's, as written there.
    """

    manifest: Manifest
    files: Mapping[str, Mapping[str, Path]]
    leads: Mapping[Path, Path]
    file: str
    lines: Mapping[Keys, int]
    overrides: tuple[str, ...] = ()

    def place(self, keys: Keys) -> str:
        """Return "file:line" of a value, or of the nearest thing that holds it."""
        return f"{self.file}:{yaml.nearest_line(self.lines, keys)}"


def load_manifest(
    path: Path,
    *,
    repository: Path,
    roots: Mapping[str, Path],
    soc: str | None = None,
    precision: str | None = None,
) -> LoadedManifest:
    """Read and check `pipelines/<model>/manifest.yaml`.

    Args:
        path: the manifest; its folder is what its paths are relative to.
        repository: the folder that paths may not leave.
        roots: further folders by name (`ascendflow.manifest.paths.read_roots`).
        soc: replaces `convert.soc_version`.
        precision: replaces `convert.precision_mode`.

    Raises:
        ManifestError: the manifest is wrong; names each line, whatever its bytes are.
        UsageError: `soc` or `precision` is not known.
    """
    file = (
        path.relative_to(repository).as_posix()
        if path.is_relative_to(repository)
        else path.name
    )
    source = yaml.parse(_read(path, file))
    places = Places(path.parent, repository, roots)
    problems = [*source.problems]
    manifest = None
    if isinstance(source.data, dict):
        manifest, wrong = _validate(source)
        problems += wrong
        problems += [each for check in CONSISTENCY for each in check(source.data)]
        problems += path_problems(source.data, places)
        problems += factory_problems(source.data, places)
        problems += onnx_problems(source.data, places)
        problems += _folder_problems(source.data, path.parent.name)
    elif not problems:
        problems.append(Problem((), f"must be a mapping, got {shown(source.data)}"))
    if manifest is None or problems:
        raise ManifestError(_all(problems, source, file))
    manifest = _overridden(manifest, soc, precision)
    given = {"soc": soc, "precision": precision}
    return LoadedManifest(
        manifest,
        _files(source.data, places, is_auto=_is_auto(manifest)),
        _leads(source.data, places),
        file,
        source.lines,
        tuple(f"{name}={value}" for name, value in given.items() if value is not None),
    )


def _read(path: Path, file: str) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise ManifestError(f"{file}: is no file")
        with path.open("rb") as stream:
            return stream.read(yaml.MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "`ascendflow init MODEL` writes one"
        raise ManifestError(f"{file}: cannot be read: {reason}", hint=hint) from error


def _validate(source: yaml.Source) -> tuple[Manifest | None, list[Problem]]:
    from pydantic import ValidationError

    try:
        return Manifest.model_validate(source.data), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        return None, [_translated(each, source) for each in details]


def _translated(error: ErrorDetails, source: yaml.Source) -> Problem:
    """Say one of pydantic's errors in our words."""
    keys: Keys = error["loc"]
    if error["type"] == "missing":
        return Problem(keys, "is missing")
    if error["type"] == "extra_forbidden":
        return _unknown_key(keys)
    while keys and keys not in source.lines:
        keys = keys[:-1]  # pydantic saw what our short forms stand for
    context = error.get("ctx", {})
    must = MUST[error["type"]].format(**context) if error["type"] in MUST else error["msg"]
    written = source.written.get(keys)
    hint = context.get("hint") or threshold_hint(keys, written)
    if error["type"] == "string_type" and written is not None:
        hint = f'quote it: "{written}"; unquoted, YAML reads a number'
    if error["input"] is None:
        hint = "give it a value, or remove the line"
    return Problem(keys, f"{must}, got {shown(error['input'], written)}", hint)


def _unknown_key(keys: Keys) -> Problem:
    if keys[0] == "convert" and len(keys) == 2 and keys[1] in NOT_TAKEN:
        return Problem(keys, *NOT_TAKEN[str(keys[1])])
    if keys[:2] == ("convert", "aipp") and (hint := in_our_words(str(keys[-1]))):
        return Problem(keys, "is a key of ATC's own file, and none here", hint)
    return Problem(keys, "is not a known key", _nearest_key(keys))


def _nearest_key(keys: Keys) -> str:
    """Suggest the block that a key of this name belongs to, or a sibling."""
    block: type[BaseModel] = Manifest
    for key in keys[:-1]:
        field = block.model_fields.get(str(key))
        block = (_block_of(field.annotation) if field is not None else None) or block
    name = str(keys[-1])
    for top, field in Manifest.model_fields.items():
        inner = _block_of(field.annotation)
        if inner is not None and name in inner.model_fields:
            return f"did you mean '{top}.{name}'?"
    return closest_or_all(name, block.model_fields)


def _block_of(annotation: Any) -> type[BaseModel] | None:
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_block_of, get_args(annotation))), None)


def _folder_problems(data: Any, folder: str) -> Iterator[Problem]:
    model = lookup(data, ("model",))
    if isinstance(model, str) and model and model != folder:
        text = f"must be the name of the manifest's folder, '{folder}', got {shown(model)}"
        yield Problem(("model",), text)


def _all(problems: list[Problem], source: yaml.Source, file: str) -> str:
    """Render the problems in the order of the file, of each value the first and the apart.

    A value that could not be read is missing from what holds it; that is no news.
    """
    told = {keys for each in source.problems for keys in (each.keys, each.keys[:-1])}
    kept: dict[object, Problem] = {}
    for problem in problems:
        echo = problem.keys in told and problem not in source.problems
        if not problem.keys or not echo:
            whole = problem.is_apart or not problem.keys
            kept.setdefault(problem if whole else problem.keys, problem)
    lined = [(each.line or source.line(each.keys), each) for each in kept.values()]
    lined.sort(key=lambda pair: pair[0])
    return "\n".join(problem.render(file, line) for line, problem in lined)


def _overridden(manifest: Manifest, soc: str | None, precision: str | None) -> Manifest:
    """Apply `soc=` and `precision=`."""
    is_atc_to_judge = manifest.convert.backend == ("cann",)
    _refuse_unknown(soc, precision, is_atc_to_judge=is_atc_to_judge)
    changed: dict[str, str | None] = {}
    if precision is not None:
        is_old = precision in atc_words.PRECISION_MODES
        changed |= (
            {"precision_mode": precision, "precision_mode_v2": None}
            if is_old
            else {"precision_mode_v2": precision}
        )
    if soc is not None:
        changed["soc_version"] = soc
    convert = manifest.convert.model_copy(update=changed)
    return manifest.model_copy(update={"convert": convert})


def _refuse_unknown(
    soc: str | None, precision: str | None, *, is_atc_to_judge: bool
) -> None:
    """Refuse what the command line names and nobody knows, both at once."""
    if is_atc_to_judge and soc and re.fullmatch(SOC, soc, re.ASCII):
        soc = None  # as in a manifest: the installed ATC knows its own
    asked = (
        ("soc", soc, "soc_version", atc_words.SOC_VERSIONS),
        ("precision", precision, "precision_mode", MODES),
    )
    problems = [
        UsageError(f"{name}={given} is not a known {what}", hint=_hint(given, known))
        for name, given, what, known in asked
        if given is not None and given not in known
    ]
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise UsageError("\n".join(map(str, problems)))


def _hint(given: str, known: Iterable[str]) -> str:
    if "," in given:
        return "it takes one; run once for each, every one has a folder of its own"
    return closest_or_all(given, known)


def _is_auto(manifest: Manifest) -> bool:
    return any(rule.name == vocabulary.AUTO for rule in manifest.rewrite.rules)


def _files(data: Any, places: Places, *, is_auto: bool) -> dict[str, dict[str, Path]]:
    files: dict[str, dict[str, Path]] = {}
    for keys, (stages, role) in FILES.items():
        written = lookup(data, keys)
        for stage in stages if isinstance(written, str) else ():
            if stage != IF_AUTO or is_auto:
                files.setdefault(stage, {})[role] = locate(written, places)
    return files


def _leads(data: Any, places: Places) -> dict[Path, Path]:
    named = [lookup(data, keys) for keys, (stages, _) in FILES.items() if stages]
    return {
        spelled_out(written, places): locate(written, places)
        for written in named
        if isinstance(written, str)
    }
