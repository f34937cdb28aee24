"""What is asked of nodes and values everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    import numpy as np
    import onnx_ir as ir


def label(node: ir.Node) -> str:
    """Name a node for people: its name, else its first output, which is unique too."""
    if node.name:
        return node.name
    return next((value.name for value in node.outputs if value.name), "")


def opset(node: ir.Node, model: ir.Model) -> int | None:
    """Return the version of the operator set that `node` is read in, None if undeclared."""
    imports = model.graph.opset_imports
    if node.domain in DEFAULT_DOMAINS:
        return next((imports[d] for d in DEFAULT_DOMAINS if d in imports), None)
    return imports.get(node.domain)


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
