"""`ascendflow schema`: JSON Schemas of the documents, and files held against them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

from ascendflow.errors import UsageError
from ascendflow.tasks.commands.command import OwnCommand
from ascendflow.tasks.commands.options import word


class Schema(OwnCommand):
    """Prints, writes and applies schemas; thin, see `ascendflow.manifest.schema`."""

    name = "schema"
    doc_purpose = "show the JSON Schemas, or validate files with them"
    doc_usage = "[KIND | describe KIND | validate FILE... | write FOLDER | drift FOLDER]"
    doc_description = (
        "Alone: lists the kinds of documents. KIND: prints its schema. describe: tables of"
        " its keys, in Markdown; `describe deviations`: of where CANN differs from ONNX."
        " validate: exit 1 if a file is not valid. write, drift: for whoever changes a"
        " document's type."
    )
    cmd_options: ClassVar[tuple[dict[str, Any], ...]] = (
        word(
            "kind",
            "KIND",
            "validate: which document the files are; absent: told by name or keys",
        ),
    )

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Run; 0 fine, 1 not valid or drifted."""
        lines, status = _answer(arguments, options["kind"] or None)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        return status


DEVIATIONS = "deviations"


def _answer(arguments: list[str], kind: str | None) -> tuple[list[str], int]:
    from ascendflow.manifest import schema, validate

    kinds = [name for name, _ in schema.DOCUMENTS]
    match arguments:
        case []:
            return [f"{name:16}{name}{schema.SUFFIX}" for name in kinds], 0
        case ["validate", first, *more]:
            problems = [
                p for file in (first, *more) for p in validate.validate(Path(file), kind)
            ]
            return problems or ["valid"], 1 if problems else 0
        case ["write", folder]:
            return [f"wrote {path}" for path in schema.write(Path(folder))], 0
        case ["drift", folder]:
            names = schema.drift(Path(folder))
            return [f"{folder}/{name} differs from its type" for name in names], int(
                bool(names)
            )
        case ["describe", name] if name in (*kinds, DEVIATIONS):
            return _described(name).splitlines(), 0
        case [name] if name in kinds:
            return schema.read(name).splitlines(), 0
    hint = f"kinds are {', '.join(kinds)}; else {Schema.doc_usage}"
    raise UsageError(f"schema: cannot do {' '.join(arguments)!r}", hint=hint)


def _described(name: str) -> str:
    if name == DEVIATIONS:
        from ascendflow.cann import reference as deviations

        return deviations.page()
    from ascendflow.manifest import reference

    return reference.page(name)
