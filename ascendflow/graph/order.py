"""Whether each node of a graph comes after the nodes that it reads from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.nodes import bodies_of, label

if TYPE_CHECKING:
    from collections.abc import Iterable

    import onnx_ir as ir


def why_unordered(model: ir.Model) -> str | None:
    """Say which node reads what no node before it makes, or return None.

    A node that holds graphs makes nothing before the nodes in them are done.
    """
    return _why_unordered(model.graph, set())


def _why_unordered(nodes: Iterable[ir.Node], done: set[ir.Node]) -> str | None:
    for node in nodes:
        for value in node.inputs:
            if value is None or value.is_graph_input() or value.is_initializer():
                continue
            producer = value.producer()
            if producer is None:
                return f"node {label(node)!r} reads {value.name!r}, which nothing makes"
            if producer not in done:
                return _why_later(node, producer, value)
        for body in bodies_of(node):
            if (reason := _why_unordered(body, done)) is not None:
                return reason
        done.add(node)
    return None


def _why_later(node: ir.Node, producer: ir.Node, value: ir.Value) -> str:
    reads = f"node {label(node)!r} reads {value.name!r} of node {label(producer)!r}"
    if _depends(producer, node):
        return f"{reads}, which depends on it: the graph has a cycle"
    return f"{reads}, which comes later: ONNX wants the nodes in order"


def _depends(node: ir.Node, other: ir.Node) -> bool:
    """Return whether `node` reads, through whatever is between, what `other` makes.

    A node reads what the nodes inside of it read.
    """
    waiting, seen = [node], {node}
    while waiting:
        inside = [current := waiting.pop()]
        inside += [each for body in bodies_of(current) for each in body.all_nodes()]
        if other in inside:
            return True
        makers = {v.producer() for each in inside for v in each.inputs if v is not None}
        new = {maker for maker in makers if maker is not None} - seen
        seen |= new
        waiting.extend(new)
    return False
