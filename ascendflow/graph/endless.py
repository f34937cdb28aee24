"""Loops of which the graph itself says that they never end: nothing can be had of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.outline import label
from ascendflow.graph.traverse import every_node, subgraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx


def endless_loops(model: onnx.ModelProto, flags: Mapping[str, bool]) -> Iterator[str]:
    """Name each Loop without a trip count whose condition cannot become false.

    Args:
        model: any.
        flags: its constant bool scalars by name.
    """
    for node in every_node(model):
        is_loop = node.op_type == "Loop" and node.domain in DEFAULT_DOMAINS
        if is_loop and _never_ends(node, flags):
            yield (
                f"node {label(node)!r} (Loop) never ends: it has no trip count, and its "
                "condition stays true"
            )


def _never_ends(node: onnx.NodeProto, flags: Mapping[str, bool]) -> bool:
    count, begins = (*node.input, "", "")[:2]
    body = next(subgraphs_of(node), None)
    if count or body is None or len(body.input) < 2 or not body.output:
        return False
    if begins and not flags.get(begins):
        return False
    same = {body.input[1].name}
    for inner in body.node:
        if inner.op_type == "Identity" and inner.input[:1] and inner.input[0] in same:
            same.update(inner.output)
    goes_on = body.output[0].name
    return goes_on in same or flags.get(goes_on, False)
