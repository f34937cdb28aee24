"""What a pipeline makes of an ONNX file before its rules see it, written as files.

The `simplify` stage holds the result to the golden besides, which takes samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.canonical import canonicalise, save
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.fixed_shapes import fix_shapes
from ascendflow.graph.ingest import accept, check, read_model
from ascendflow.graph.io_spec import inputs_of, opset_of, outputs_of
from ascendflow.graph.simplifier import Simplified, simplify
from ascendflow.graph.structure import read_structure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import onnx

    from ascendflow.graph.fixed_shapes import Opened
    from ascendflow.tensors import TensorSpec


def simplify_delivered(path: Path, folder: Path, inputs: Sequence[TensorSpec]) -> Path:
    """Ingest any ONNX file as `export` does, simplify it, and return the result's path.

    Args:
        path: the file.
        folder: an empty one, for what is written.
        inputs: the shapes to build for.

    Raises:
        StageError: a pipeline would refuse the file, or onnxsim fails.
    """
    model = read_model(path)
    accept(model, path.name, inputs, None)
    canonicalise(model)
    exported = save(model, folder / "exported", path.parent)
    check(exported, path.name)
    simplify_exported(exported, folder / "simplified", inputs)
    return folder / "simplified" / MODEL_FILE


def simplify_exported(
    exported: Path,
    folder: Path,
    inputs: Sequence[TensorSpec],
    opened: Opened | None = None,
) -> Simplified:
    """Simplify the model `exported` into `folder`, its interface and shapes as they are.

    Args:
        exported: a valid model, as `export` writes it.
        folder: created.
        inputs: the shapes to build for.
        opened: dimensions of inputs that stay open; absent: none does.

    Raises:
        StageError: onnxsim fails, or changes the model's interface.
    """
    simplified = simplify(exported)
    model = simplified.model
    _refuse_another_interface(read_structure(exported).model, model)
    fix_shapes(model, inputs, opened)
    canonicalise(model)
    check(save(model, folder, folder), "the simplified model")
    return simplified


def _refuse_another_interface(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    """Raise where inputs, outputs or opset are not what they were."""
    then, now = inputs_of(before), inputs_of(after)
    if then != now:
        raise StageError(f"onnxsim changed the inputs from {list(then)} to {list(now)}")
    names = [[spec[:2] for spec in outputs_of(model)] for model in (before, after)]
    if names[0] != names[1]:
        raise StageError(f"onnxsim changed the outputs from {names[0]} to {names[1]}")
    if opset_of(before) != opset_of(after):
        raise StageError(
            f"onnxsim changed the opset from {opset_of(before)} to {opset_of(after)}"
        )
