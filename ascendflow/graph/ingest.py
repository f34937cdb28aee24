"""An ONNX file from outside -> a canonical model with fixed input shapes, or a refusal.

What an exporter just wrote comes in by the same door as what somebody downloaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow import vocabulary
from ascendflow.errors import StageError
from ascendflow.graph.external_data import dead_references, embed_small
from ascendflow.graph.fixed_shapes import fix_shapes, why_not_these_inputs
from ascendflow.graph.io_spec import opset_of
from ascendflow.graph.refusals import why_refused
from ascendflow.graph.structure import read_structure
from ascendflow.graph.text import not_utf8
from ascendflow.graph.validity import unnamed
from ascendflow.manifest.onnx_file import NO_ONNX_HINT, no_onnx

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import onnx

    from ascendflow.graph.fixed_shapes import Opened
    from ascendflow.tensors import TensorSpec


def read_model(path: Path) -> onnx.ModelProto:
    """Parse an ONNX file; of its external data, only small tensors are read.

    Raises:
        StageError: it is no ONNX file, is cut short, is larger than protobuf can hold, has
            names that are not UTF-8, or lacks external data inside its folder.
    """
    import onnx
    from google.protobuf.message import DecodeError

    size = path.stat().st_size
    if size >= vocabulary.ONNX_FILE_LIMIT:
        raise StageError(
            f"{path.name} has {size} bytes; an ONNX file holds less than 2 GiB",
            hint="save it with external data: onnx.save(..., save_as_external_data=True)",
        )
    try:
        model = onnx.ModelProto()
        model.ParseFromString(path.read_bytes())
    except DecodeError as error:
        raise StageError(no_onnx(path.name, size), hint=NO_ONNX_HINT) from error
    if not model.HasField("graph"):
        text = f"{path.name}: holds no graph: it has {size} bytes"
        raise StageError(text, hint="export it again")
    refuse(path.name, not_utf8(model))
    dead = list(dead_references(model, path.parent))
    hint = next((each.hint for each in dead), None)
    refuse(path.name, [each.message for each in dead], hint)
    embed_small(model, path.parent)
    return model


def accept(
    model: onnx.ModelProto,
    name: str,
    inputs: Sequence[TensorSpec],
    opset: int | None,
    opened: Opened | None = None,
) -> None:
    """Refuse what no pipeline may start from, then fix the input shapes, in place.

    Args:
        model: as `read_model` returns it.
        name: the file's name, for messages.
        inputs: what the manifest says of the inputs.
        opset: what the model must be written in; None accepts any.
        opened: dimensions of inputs that stay open; absent: none does.

    Raises:
        StageError: with every problem found, one a line.
    """
    refuse(
        name,
        [
            *why_refused(model),
            *_why_other_opset(model, opset),
            *why_not_these_inputs(model, inputs, opened or {}),
        ],
    )
    _inline_functions(model, name)
    try:
        fix_shapes(model, inputs, opened)
    except StageError as error:
        raise StageError(f"{name}: {error.message}", hint=error.hint) from error


def refuse(name: str, problems: Iterable[str], hint: str | None = None) -> None:
    """Raise one StageError that holds all `problems` found in the file `name`, if any."""
    found = list(problems)
    if found:
        several = [f"{len(found)} problems:", *(f"- {problem}" for problem in found)]
        lines = found if len(found) == 1 else several
        raise StageError(f"{name}: " + "\n  ".join(lines), hint=hint)


def check(path: Path, name: str) -> None:
    """Hold a written model to ONNX's own rules, those of its operators' types included.

    Args:
        path: the model.
        name: what to call it.

    Raises:
        StageError: onnx's checker, or its type inference, refuses it.
    """
    import onnx

    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception as error:  # of the checker, of inference, or what native code raises
        if "has unsupported type: sparse_tensor" in str(error):
            return  # a sparse initializer, which runtimes take for a dense one
        lines = str(error).replace(f"{path.parent}/", "").splitlines()
        reason = "; ".join(line.removeprefix("==> ") for line in lines if line.strip())
        reason += unnamed(reason, read_structure(path).model)
        raise StageError(f"{name} breaks ONNX's rules: {reason}") from error


def _why_other_opset(model: onnx.ModelProto, wanted: int | None) -> list[str]:
    found = opset_of(model)
    if wanted is None or found is None or found == wanted:
        return []
    return [f"the file is written in opset {found}, the manifest asks for {wanted}"]


def _inline_functions(model: onnx.ModelProto, name: str) -> None:
    """Spell local functions out as nodes: neither rules nor ATC look into them."""
    import onnx.inliner

    if not model.functions:
        return
    try:
        model.CopyFrom(onnx.inliner.inline_local_functions(model))
    except Exception as error:  # calls nested too deep, or what native code raises
        reason = str(error)
        raise StageError(f"{name}: its functions cannot be inlined: {reason}") from error
