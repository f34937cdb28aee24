"""Gives a node other constants than the ones it had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.constants import float_constants, is_embedded, readable, why_unread
from ascendflow.graph.edit import initializer
from ascendflow.graph.rule import Applied, Finding, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    import onnx_ir as ir

    New = Callable[[np.ndarray], "np.ndarray | None"]


def replace_constants(
    node: ir.Node, role: str, new: New, only: Iterable[int] | None = None
) -> dict[str, str]:
    """Give `node` what `new` makes of its fp32 constants; None leaves one as it is.

    Constants that other nodes read too keep their values there. Nodes of one graph share
    the new constant as they shared the old one. Large constants in external data are not
    looked at (`graph.constants`).

    Returns:
        Old name -> new name of what was replaced.
    """
    replaced = {}
    for index, value in list(float_constants(node)):
        if only is not None and index not in only:
            continue
        array = readable(value, any_size=is_embedded(value))
        made = None if array is None else new(array)
        if made is not None:
            other = _added(node, f"{value.name}/{role}", made)
            node.replace_input_with(index, other)
            replaced[str(value.name)] = str(other.name)
    return replaced


def finding(node: ir.Node, replaced: dict[str, str], fits: str) -> Finding:
    """Say what `replace_constants` did; `fits`: why it did nothing, if all was read."""
    if not replaced:
        return Skipped(node, why_unread(node) or fits)
    before, after = {"constants": list(replaced)}, {"constants": list(replaced.values())}
    return Applied(node, before=before, after=after)


def _added(node: ir.Node, name: str, array: np.ndarray) -> ir.Value:
    """Return the initializer of that name and content in the node's graph, new or not."""
    import numpy as np
    import onnx_ir as ir

    graph = node.graph
    assert isinstance(graph, ir.Graph)  # noqa: S101, a node that is edited is in a graph
    free, number = name, 0
    while (known := graph.initializers.get(free)) is not None:
        if known.const_value is not None and np.array_equal(
            known.const_value.numpy(), array, equal_nan=True
        ):
            return known
        number += 1
        free = f"{name}.{number}"
    value = initializer(ir.Tensor(array, name=free))
    graph.register_initializer(value)
    return value
