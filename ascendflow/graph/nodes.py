"""What is asked of nodes and values everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import onnx_ir as ir


def label(node: ir.Node) -> str:
    """Name a node for people: its name, else its first output, which is unique too."""
    if node.name:
        return node.name
    return next((value.name for value in node.outputs if value.name), "")


def nodes_of(model: ir.Model) -> Iterator[ir.Node]:
    """Give every node: of the graph and its subgraphs, then of the local functions."""
    yield from model.graph.all_nodes()
    for function in model.functions.values():
        yield from function.all_nodes()


def opset(node: ir.Node, model: ir.Model) -> int | None:
    """Return the version of the operator set that `node` is read in, None if undeclared."""
    if node.domain in DEFAULT_DOMAINS:
        return model_opset(model)
    return model.graph.opset_imports.get(node.domain)


def model_opset(model: ir.Model) -> int | None:
    """Return the version of ONNX's own operators in `model`, None if undeclared."""
    imports = model.graph.opset_imports
    return next((imports[d] for d in DEFAULT_DOMAINS if d in imports), None)


def bodies_of(node: ir.Node) -> Iterator[ir.Graph]:
    """Give the graphs that `node` holds in attributes."""
    import onnx_ir as ir

    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH:
            yield attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            yield from attribute.as_graphs()


def constant(value: ir.Value | None) -> np.ndarray | None:
    """Return the elements of an initializer or a Constant node's output, else None.

    An initializer that is a graph input too has only a default, so is no constant.
    """
    import onnx_ir as ir

    if value is None or value.is_graph_input():
        return None
    tensor = ir.convenience.get_const_tensor(value)
    return None if tensor is None else tensor.numpy()


def static_shape(value: ir.Value | None) -> tuple[int, ...] | None:
    """Return the shape of `value` if its rank and all its dimensions are known."""
    if value is None or value.shape is None:
        return None
    dims = tuple(value.shape)
    lengths = tuple(d for d in dims if isinstance(d, int))
    return lengths if len(lengths) == len(dims) else None


def input_at(node: ir.Node, index: int) -> ir.Value | None:
    """Return an input, None where an optional one is absent or left out."""
    return node.inputs[index] if index < len(node.inputs) else None


def length_along(value: ir.Value | None, axis: int) -> int | None:
    """Return how long `value` is along one of its axes, None where that is not fixed.

    None too where it has no such axis: onnx's inference cuts an axis off at 32 bits.
    """
    if value is None or value.shape is None:
        return None
    if not -len(value.shape) <= axis < len(value.shape):
        return None
    length = value.shape[axis]
    return length if isinstance(length, int) else None


def why_not_float32(value: ir.Value | None) -> str | None:
    """Return why a tensor is not known to be float32, or None."""
    import onnx_ir as ir

    if value is not None and value.dtype == ir.DataType.FLOAT:
        return None
    name = None if value is None else value.name
    dtype = None if value is None or value.dtype is None else value.dtype.name.lower()
    return f"tensor {name!r} is {dtype or 'of unknown type'}, not float32"
