"""Reads constants, but not gigabytes of them unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.nodes import constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import onnx_ir as ir

READ_UNASKED = 4 * 2**20
"""Bytes: a constant in external data up to this size is read whenever it is looked at, so
a mask of 1024 x 1024 is; larger ones are read only where the caller asks for all."""

_EMBEDDED = "ascendflow.embedded"

COMPUTING = frozenset(
    {
        "Add", "BatchNormalization", "Concat", "Conv", "ConvTranspose", "Div", "Expand",
        "Gather", "GatherElements", "GatherND", "Gemm", "GroupNormalization",
        "InstanceNormalization", "LayerNormalization", "MatMul", "Mean", "Mul", "PRelu",
        "Pad", "Pow", "Reshape", "ScatterElements", "ScatterND", "Sub", "Sum", "Tile",
        "Transpose", "Unsqueeze", "Where",
    }
)  # fmt: skip
"""Operators that compute with their constants, or pass them on. Min, Max and Clip are not
among them: a bound that fp16 cannot reach binds nothing."""


def readable(value: ir.Value | None, *, any_size: bool) -> np.ndarray | None:
    """Return the elements of a constant, or None: no constant, or too large unasked."""
    if value is None or (not any_size and _is_large(value)):
        return None
    return constant(value)


def unread(model: ir.Model) -> list[ir.Value]:
    """List the initializers that `readable` passes over unless it is asked for any size."""
    graphs = (model.graph, *model.graph.subgraphs())
    return [v for graph in graphs for v in graph.initializers.values() if _is_large(v)]


def mark_embedded(model: ir.Model, file: str) -> None:
    """Remember which initializers look external and lie in `file`, the model's own."""
    import onnx_ir as ir

    for value in model.graph.initializers.values():
        tensor = value.const_value
        if isinstance(tensor, ir.ExternalTensor) and tensor.location == file:
            value.meta[_EMBEDDED] = True


def is_embedded(value: ir.Value) -> bool:
    """Return whether `mark_embedded` found the constant in the model's own file."""
    return _EMBEDDED in value.meta


def single(value: ir.Value | None) -> float | None:
    """Return the number that a constant of one element holds, else None."""
    import onnx_ir as ir

    if value is None or value.is_graph_input():
        return None
    tensor = ir.convenience.get_const_tensor(value)
    if tensor is None or tensor.size != 1:
        return None
    return float(tensor.numpy().reshape(()))


def float_constants(node: ir.Node) -> Iterator[tuple[int, ir.Value]]:
    """Give the fp32 constants among the inputs of `node`, with their positions."""
    import onnx_ir as ir

    for index, value in enumerate(node.inputs):
        if value is None or value.dtype != ir.DataType.FLOAT or value.is_graph_input():
            continue
        if ir.convenience.get_const_tensor(value) is not None:
            yield index, value


def why_unread(node: ir.Node) -> str | None:
    """Name the constants beside the file that are too large to be read unasked, or None."""
    names = [
        str(value.name)
        for _, value in float_constants(node)
        if _is_large(value) and not is_embedded(value)
    ]
    if not names:
        return None
    return f"{', '.join(names)}: external data of more than {READ_UNASKED} bytes, not read"


def _is_large(value: ir.Value) -> bool:
    import onnx_ir as ir

    tensor = value.const_value
    return isinstance(tensor, ir.ExternalTensor) and tensor.nbytes > READ_UNASKED
