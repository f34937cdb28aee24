"""JSON Schemas of every document: made from the types, committed, never written by hand.

`schemas/` of the repository is the real folder; a wheel carries it as
`ascendflow/schemas/` (setup.py copies it there).
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

DOCUMENTS = (
    ("manifest", "ascendflow.manifest.models:Manifest"),
    ("record", "ascendflow.documents.record:Record"),
    ("nodes", "ascendflow.documents.nodes:NodesDocument"),
    ("golden", "ascendflow.documents.golden:GoldenDocument"),
    ("simplification", "ascendflow.documents.simplification:SimplificationDocument"),
    ("rewrite_log", "ascendflow.documents.rewrite_log:RewriteLog"),
    ("check", "ascendflow.documents.check:Check"),
    ("lint", "ascendflow.documents.lint:Lint"),
    ("conversion", "ascendflow.documents.conversion:Conversion"),
    ("metrics", "ascendflow.documents.metrics:MetricsDocument"),
    ("evaluation", "ascendflow.documents.evaluation:Evaluation"),
    ("verdict", "ascendflow.documents.verdict:Verdict"),
    ("inspection", "ascendflow.documents.inspection:Inspection"),
    ("doctor", "ascendflow.documents.doctor:Doctor"),
    ("report", "ascendflow.documents.report:Report"),
    ("contrast", "ascendflow.documents.contrast:Contrast"),
)
"""(kind, "module:Class"); the schema of a kind is `<kind>.schema.json`."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SUFFIX = ".schema.json"


def schemas(documents: tuple[tuple[str, str], ...] = DOCUMENTS) -> dict[str, str]:
    """Make all schemas: file name -> text, the same on every run.

    Raises:
        ImportError: a document's module is missing.
        AttributeError: its class is.
    """
    return {kind + SUFFIX: _text(location) for kind, location in documents}


def write(folder: Path, documents: tuple[tuple[str, str], ...] = DOCUMENTS) -> list[Path]:
    """Write all schemas into `folder`, and remove those of no document.

    Returns:
        What was changed.
    """
    made = schemas(documents)
    folder.mkdir(parents=True, exist_ok=True)
    changed = [folder / name for name in drift(folder, documents)]
    for path in changed:
        if path.name in made:
            path.write_text(made[path.name], encoding="utf-8", newline="\n")
        else:
            path.unlink()
    return changed


def drift(folder: Path, documents: tuple[tuple[str, str], ...] = DOCUMENTS) -> list[str]:
    """Name the schemas in `folder` that differ from their types, are missing, or strays."""
    made = schemas(documents)
    there = {path.name: path.read_bytes() for path in folder.glob("*" + SUFFIX)}
    return [
        name
        for name in sorted(made.keys() | there.keys())
        if name not in made or made[name].encode() != there.get(name)
    ]


def folder() -> Path:
    """Return where the committed schemas lie: in the package, or in the checkout."""
    package = Path(__file__).parent.parent
    packed = package / "schemas"
    return packed if packed.is_dir() else package.parent / "schemas"


def read(kind: str) -> str:
    """Return a committed schema's text.

    Raises:
        FileNotFoundError: `kind` is no document.
    """
    return (folder() / (kind + SUFFIX)).read_text(encoding="utf-8")


def _text(location: str) -> str:
    from pydantic import BaseModel, TypeAdapter

    from ascendflow.manifest.described import Described
    from ascendflow.manifest.typed_dicts import rebuilt

    module, _, name = location.partition(":")
    kind: Any = getattr(import_module(module), name)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        schema = kind.model_json_schema(schema_generator=Described)
    else:
        schema = TypeAdapter(rebuilt(kind)).json_schema()
    schema = {"$schema": DIALECT, **_tidied(schema), "title": name}
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _tidied(schema: Any) -> Any:
    """Close every object, and drop titles that only repeat a key."""
    if isinstance(schema, list):
        return [_tidied(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    tidy: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            tidy[key] = {name: _tidied(each) for name, each in value.items()}
        elif key in ("default", "enum", "const", "examples"):
            tidy[key] = value
        elif key != "title":
            tidy[key] = _tidied(value)
    if tidy.get("type") == "object" and "properties" in tidy:
        tidy.setdefault("additionalProperties", False)
    return tidy
