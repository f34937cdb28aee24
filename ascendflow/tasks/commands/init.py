"""`ascendflow init MODEL`: a new pipeline."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.errors import StageError, UsageError
from ascendflow.tasks.commands import COMMANDS, DATABASES
from ascendflow.tasks.commands.command import OwnCommand
from ascendflow.tasks.commands.options import SHAPE, switch, word

if TYPE_CHECKING:
    from collections.abc import Iterable


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
        word(
            "onnx",
            "FILE",
            "start from this ONNX file; it is copied, with its external data",
        ),
        switch("link", "refer to the ONNX file where it lies, instead of copying it"),
        SHAPE,
    )

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Write the pipeline, and say what was written and what comes next."""
        from ascendflow.manifest.init import initialise

        if len(arguments) != 1:
            usage = f"usage: {self.bin_name} init {self.doc_usage}"
            raise UsageError("init: give one model's name", hint=usage)
        try:
            done = initialise(
                arguments[0],
                repository=Path.cwd(),
                commands=COMMANDS,
                databases=DATABASES,
                onnx=Path(options["onnx"]) if options["onnx"] else None,
                link=options["link"],
                shapes=options["shape"],
                why_refused=_why_refused,
            )
        except UsageError as error:
            raise UsageError(f"init: {error.message}", hint=error.hint) from error
        lines = [*(f"wrote {name}" for name in done.created)]
        lines += [*(f"added to {name}" for name in done.edited)]
        before = "add that line to dodo.py, then " * done.lacks_tasks
        lines += [*done.notes, f"next: {before}doit model={arguments[0]}"]
        sys.stdout.write("\n".join(lines) + "\n")
        return 0


def _why_refused(path: Path) -> Iterable[str]:
    """Say what the export stage would have against the file, before anything is written."""
    from ascendflow.graph.refusals import why_refused
    from ascendflow.graph.soundness import load_sound
    from ascendflow.graph.structure import read_structure
    from ascendflow.graph.text import not_utf8

    model = read_structure(path).model
    if problems := list(not_utf8(model)) or list(why_refused(model)):
        return problems
    try:
        load_sound(path)
    except StageError as error:
        raise UsageError(error.message, hint=error.hint) from error
    return ()
