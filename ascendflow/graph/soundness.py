"""Whether an ONNX file can be read at all: one answer for whoever takes one from a user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.load import load_to_look, why_invalid
from ascendflow.graph.order import why_unordered

if TYPE_CHECKING:
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.graph.fixed_shapes import Shapes


def load_sound(path: Path, shapes: Shapes | None = None) -> ir.Model:
    """Read `path` as `load_to_look` does, and refuse what is no graph.

    Declared shapes may be wrong: a pipeline does not believe them.

    Args:
        path: the file.
        shapes: of inputs, by name, instead of what the file leaves open.

    Raises:
        StageError: `path` is no ONNX model, or one whose nodes are in no order.
        UsageError: `shapes` are not those of its inputs.
    """
    model = load_to_look(path, shapes)
    if not any(True for _ in model.graph):
        raise StageError(f"{path.name}: is no ONNX file: it holds no graph")
    # onnx-ir leaves sparse initializers out, so that what reads one seems to read nothing.
    if (reason := why_unordered(model)) is not None and why_invalid(path) is not None:
        raise StageError(f"{path.name}: {reason}")
    return model
