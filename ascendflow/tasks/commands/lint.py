"""`ascendflow lint model.onnx --soc ... --cann ...`: where a target differs from ONNX."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.errors import StageError, UsageError
from ascendflow.manifest.precision_keys import MODES
from ascendflow.tasks.commands import delivered
from ascendflow.tasks.commands.command import OwnCommand
from ascendflow.tasks.commands.options import (
    PRECISION_MODE,
    SOC,
    refuse_unknown,
    switch,
    word,
)

if TYPE_CHECKING:
    from ascendflow.documents.lint import Lint as LintDocument
    from ascendflow.documents.lint import LintFinding
    from ascendflow.graph.fixed_shapes import Shapes

FORMATS = ("text", "json", "sarif")
OPTIONS = (("cann", "cann"), ("soc_version", "soc"), ("precision_mode", "precision-mode"))
"""(key of a target, option that gives it)."""


class Lint(OwnCommand):
    """Lints one file, with no pipeline around it; thin, see `ascendflow.cann.survey`."""

    name = "lint"
    doc_purpose = "say where a target is known to differ from ONNX on a model"
    doc_usage = (
        "FILE --soc Ascend310P3 --cann 8.1 [--simplify] [--shape name:1,3,480,640]..."
    )
    doc_description = (
        "Takes any ONNX file. A finding is `rejected`: ATC refuses the node; `silent`: it"
        " runs and gives other values; `precision`: its values are less precise; `unknown`:"
        " no source says. Exits with 0 if `convert` would take the model and nothing is"
        " silently wrong; with 1 if something is rejected, silent, or unknown and not"
        " computed, or with --simplify if a pipeline would refuse the file before that;"
        " with 3 if the file is no valid ONNX model or in training mode, or the target or"
        " an option is not known. The stage of a pipeline that is called so too: `doit run"
        " lint`."
    )
    cmd_options: ClassVar[tuple[dict[str, Any], ...]] = (
        SOC,
        word("cann", "VERSION", "CANN version, e.g. 8.1"),
        PRECISION_MODE,
        *delivered.OPTIONS,
        switch(
            "all-weights",
            "look at constants of more than 4 MiB too, which takes longer",
        ),
        switch(
            "strict",
            "exit with 1 for any finding: less precision, and what is computed both ways,"
            " too",
        ),
        word(
            "format",
            "FORMAT",
            "text, json (its schema: `schema lint`) or sarif [default: text]",
            "text",
        ),
        word("output", "FILE", "write there, and print the totals alone"),
    )

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Lint; 0 or 1, as the description says."""
        from ascendflow.manifest.init import parse_shapes

        path = _file(arguments, f"usage: {self.bin_name} lint {self.doc_usage}")
        refuse_unknown("lint", "format", options["format"], FORMATS)
        shapes = parse_shapes(options["shape"])
        lint = _survey(path, _target(options), options, shapes)
        text = _spelled(path, lint, options, shapes)
        if options["output"]:
            from ascendflow.report.findings import totals_line

            Path(options["output"]).write_text(text, encoding="utf-8")
            text = f"{totals_line(str(path), lint)}\n"
        sys.stdout.write(text)
        return int(any(options["strict"] or _fails(found) for found in lint["findings"]))


def _fails(found: LintFinding) -> bool:
    return found["stops_convert"] or found["consequence"] == "silent"


def _file(arguments: list[str], usage: str) -> Path:
    if len(arguments) != 1:
        hint = f"{usage}; the stage of a pipeline: doit run lint"
        raise UsageError(f"lint: give one ONNX file, got {len(arguments)}", hint=hint)
    path = Path(arguments[0])
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise UsageError(f"lint: {path}: {what}")
    return path


def _target(options: dict[str, Any]) -> dict[str, str]:
    from ascendflow.cann.target import why_refused

    missing = [f"--{option}" for _, option in OPTIONS if not options[option]]
    if missing:
        hint = "lint needs a target, e.g. --soc Ascend310P3 --cann 8.1"
        raise UsageError(f"lint: {' and '.join(missing)} missing", hint=hint)
    refuse_unknown("lint", "precision-mode", options["precision-mode"], MODES)
    target = {key: str(options[option]) for key, option in OPTIONS}
    if (reason := why_refused(target)) is not None:
        raise UsageError(f"lint: {reason}")
    return target


def _survey(
    path: Path, target: dict[str, str], options: dict[str, Any], shapes: Shapes
) -> LintDocument:
    from ascendflow.cann.survey import survey

    # It logs what is wrong with a graph, beside what we say of it.
    logging.getLogger("onnx_ir").setLevel(logging.CRITICAL)
    all_weights = options["all-weights"]
    try:
        if not options["simplify"]:
            return survey(path, target, all_weights=all_weights, shapes=shapes)
        with delivered.simplified(path, shapes) as simplified:
            return survey(simplified, target, all_weights=all_weights)
    except delivered.RefusedError as error:
        raise delivered.RefusedError(f"lint: {error.message}", hint=error.hint) from error
    except StageError as error:
        reason = " ".join(error.message.split())
        raise UsageError(f"lint: {reason}", hint=error.hint) from error


def _spelled(
    path: Path, lint: LintDocument, options: dict[str, Any], shapes: Shapes
) -> str:
    from ascendflow.documents.json_file import json_text
    from ascendflow.report.lint_text import lint_text
    from ascendflow.report.sarif import sarif

    if options["format"] == "json":
        return json_text(lint)
    if options["format"] == "sarif":
        return json_text(sarif(path, lint))
    looked = delivered.looked(path, shapes, is_simplified=options["simplify"], verb="lint")
    return lint_text(str(path), lint, looked)
