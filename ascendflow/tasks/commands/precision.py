"""`ascendflow precision MODEL.onnx`: the types in which each node would run, and why."""

from __future__ import annotations

import json
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
    word,
    words,
)
from ascendflow.terminal import told

if TYPE_CHECKING:
    from ascendflow.cann.listing import Listing
    from ascendflow.cann.target import Target
    from ascendflow.graph.fixed_shapes import Shapes

FORMATS = ("text", "json")


class Precision(OwnCommand):
    """Lists the choices of CANN's precision engine; thin, see `ascendflow.cann.listing`."""

    name = "precision"
    doc_purpose = "list the types in which a model's nodes run on a target, and why"
    doc_usage = (
        "MODEL.onnx --soc SOC --cann VERSION [--precision-mode MODE] [--simplify]"
        " [--shape name:1,3,480,640]... [--format text|json]"
    )
    doc_description = (
        "Takes any ONNX file, and needs no manifest. What is listed is what the precision"
        " engine is known to do (emulated), not what a toolkit was asked. Exits with 0"
        " where there is a list, whatever it says of single nodes: `lint` judges; with 3 if"
        " the file is no valid ONNX model or in training mode, with --simplify if a"
        " pipeline would refuse it, or if an option names what is not there."
    )
    cmd_options: ClassVar[tuple[dict[str, Any], ...]] = (
        SOC,
        PRECISION_MODE,
        word("cann", "VERSION", "CANN version, e.g. 8.1"),
        words(
            "keep-dtype",
            "NAME",
            "a node, or OpType::X, that keeps the model's types; repeatable",
        ),
        *delivered.OPTIONS,
        word("format", "FORMAT", "text or json [default: text]", "text"),
    )

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """List the nodes; 0 also where some of them would be refused."""
        from ascendflow.cann import listing
        from ascendflow.manifest.init import parse_shapes

        path = _checked(self, options, arguments)
        target, shapes = _target(options), parse_shapes(options["shape"])
        try:
            found = _listed(path, target, shapes, is_simplified=options["simplify"])
        except StageError as error:
            message = error.message.removeprefix("convert.").removeprefix("convert: ")
            raise UsageError(f"precision: {message}", hint=error.hint) from error
        if options["format"] == "json":
            data = listing.as_data(found, target)
            sys.stdout.write(json.dumps(data, indent=2) + "\n")
        else:
            sys.stdout.write(told(listing.as_text(found, target)))
            is_simplified = options["simplify"]
            looked = delivered.looked(
                path, shapes, is_simplified=is_simplified, verb="list"
            )
            sys.stdout.write(told(f"{looked.note}\n"))
            sys.stdout.write(f"{listing.totals_line(found)}\n")
        return 0


def _listed(path: Path, target: Target, shapes: Shapes, *, is_simplified: bool) -> Listing:
    from ascendflow.cann.listing import listed

    if not is_simplified:
        return listed(path, target, shapes)
    with delivered.simplified(path, shapes) as simplified:
        return listed(simplified, target)


def _target(options: dict[str, Any]) -> Target:
    from ascendflow.cann.target import Target, why_refused

    config = {
        "cann": options["cann"],
        "soc_version": options["soc"],
        "precision_mode": options["precision-mode"],
        "keep_dtype": options["keep-dtype"],
    }
    if (reason := why_refused(config)) is not None:
        raise UsageError(f"precision: {reason}")
    return Target.of(config)


def _checked(command: Precision, options: dict[str, Any], arguments: list[str]) -> Path:
    """Return the model's path; what the user got wrong is one line."""
    usage = f"usage: {command.bin_name} precision {command.doc_usage}"
    if len(arguments) != 1:
        raise UsageError("precision: give one ONNX file", hint=usage)
    if lacking := [f"--{name}" for name in ("soc", "cann") if not options[name]]:
        hint = "precision needs a target, e.g. --soc Ascend310P3 --cann 8.1"
        raise UsageError(f"precision: {' and '.join(lacking)} missing", hint=hint)
    refuse_unknown("precision", "precision-mode", options["precision-mode"], MODES)
    refuse_unknown("precision", "format", options["format"], FORMATS)
    path = Path(arguments[0])
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise UsageError(f"precision: {path}: {what}")
    return path
