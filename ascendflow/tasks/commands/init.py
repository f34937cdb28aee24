"""`ascendflow init MODEL`: a new pipeline."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

from ascendflow.errors import UsageError
from ascendflow.tasks.commands import COMMANDS, DATABASES
from ascendflow.tasks.commands.command import OwnCommand


class Init(OwnCommand):
    """Writes a manifest and what doit needs; thin, see `ascendflow.manifest.init`."""

    name = "init"
    doc_purpose = "start a pipeline for a model"
    doc_usage = "MODEL [--onnx FILE [--link]] [--shape name:1,3,480,640]..."
    doc_description = (
        "Writes pipelines/MODEL with a manifest, and dodo.py, schemas/, .gitignore and"
        " pyproject.toml lines where they are missing. Overwrites nothing. Without --onnx:"
        " a small PyTorch model to put yours in place of."
    )
    cmd_options: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "name": "onnx",
            "long": "onnx",
            "default": "",
            "metavar": "FILE",
            "help": "start from this ONNX file; it is copied, with its external data",
        },
        {
            "name": "link",
            "long": "link",
            "type": bool,
            "default": False,
            "help": "refer to the ONNX file where it lies, instead of copying it",
        },
        {
            "name": "shape",
            "long": "shape",
            "type": list,
            "default": [],
            "metavar": "NAME:SIZES",
            "help": "shape to build for, of an input with dynamic dimensions; repeatable",
        },
    )

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Write the pipeline, and say what was written and what comes next."""
        from ascendflow.manifest.init import initialise

        if len(arguments) != 1:
            usage = f"usage: {self.bin_name} init {self.doc_usage}"
            raise UsageError("init: give one model's name", hint=usage)
        done = initialise(
            arguments[0],
            repository=Path.cwd(),
            commands=COMMANDS,
            databases=DATABASES,
            onnx=Path(options["onnx"]) if options["onnx"] else None,
            link=options["link"],
            shapes=options["shape"],
        )
        lines = [*(f"wrote {name}" for name in done.created)]
        lines += [*(f"added to {name}" for name in done.edited)]
        lines += [*done.notes, f"next: doit model={arguments[0]}"]
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
