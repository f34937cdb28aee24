"""Any written document, held against its JSON Schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ascendflow.errors import UsageError
from ascendflow.manifest import schema
from ascendflow.manifest import source as yaml
from ascendflow.manifest.problems import Problem, dotted

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {"rewrite.json": "rewrite_log", "simplify.json": "simplification"}
"""Documents whose file is not called after their kind."""
MAX_BYTES = 512 * 1024 * 1024


def validate(file: Path, kind: str | None = None) -> list[str]:
    """Hold a YAML or JSON file against the schema of its kind.

    Args:
        file: any document that ascendflow writes, or a manifest.
        kind: which document it is; absent: told by its name, else by its keys.

    Returns:
        What is wrong, each with file and line or key; empty if it is valid.

    Raises:
        UsageError: the file cannot be read, or its kind is unknown.
    """
    source = _source(file)
    if source.problems:
        return [each.render(str(file), each.line or 1) for each in source.problems]
    kind = kind or _kind_by_name(file) or _kind_by_keys(source.data, file)
    problems = _problems(source.data, kind)
    if not source.lines:
        return [f"{file}: {dotted(each.keys)} {each.text}" for each in problems]
    return [each.render(str(file), source.line(each.keys)) for each in problems]


def _problems(data: Any, kind: str) -> list[Problem]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    kinds = [known for known, _ in schema.DOCUMENTS]
    if kind not in kinds:
        raise UsageError(
            f"there is no document '{kind}'", hint=f"one of {', '.join(kinds)}"
        )
    validator = Draft202012Validator(json.loads(schema.read(kind)))
    problems = []
    for each in validator.iter_errors(data):
        # In a choice of forms, say what is wrong with the form that fits best.
        inner = best_match([each]) or each
        problems.append(
            Problem(tuple(inner.absolute_path), f"is wrong: {_short(inner.message)}")
        )
    return sorted(problems, key=lambda each: [str(key) for key in each.keys])


def _short(message: str) -> str:
    return message if len(message) <= 200 else f"{message[:150]} ... {message[-40:]}"


def _source(file: Path) -> yaml.Source:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UsageError(f"{file}: is larger than {MAX_BYTES >> 20} MiB")
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from error
    if file.suffix in (".yaml", ".yml"):
        return yaml.parse(content)
    try:
        data = json.loads(
            content.decode(), parse_constant=_refuse_constant, object_pairs_hook=_once
        )
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        return yaml.Source(
            problems=[Problem((), f"is not valid JSON: {error}", None, line)]
        )
    return yaml.Source(data=data)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON; it is written as a string")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return found


def _kind_by_name(file: Path) -> str | None:
    kinds = {kind for kind, _ in schema.DOCUMENTS}
    named = KINDS.get(file.name, file.stem)
    return named if named in kinds else None


def _kind_by_keys(data: Any, file: Path) -> str:
    """Find the only kind whose required keys are all there, and which knows all keys."""
    keys = set(data) if isinstance(data, dict) else set()
    fitting = []
    for kind, _ in schema.DOCUMENTS:
        known = json.loads(schema.read(kind))
        if set(known.get("required", ())) <= keys <= known["properties"].keys():
            fitting.append(kind)
    if len(fitting) != 1:
        hint = (
            f"say which: --kind, one of {', '.join(kind for kind, _ in schema.DOCUMENTS)}"
        )
        raise UsageError(f"{file}: is no document known by its name or keys", hint=hint)
    return fitting[0]
