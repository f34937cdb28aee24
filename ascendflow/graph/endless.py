"""Loops of which the graph itself says that they never end: nothing can be had of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.outline import label
from ascendflow.graph.traverse import every_node, subgraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx


_MOST_STEPS = 1 << 30
"""Of a body that does nothing, onnxruntime runs as many in half an hour."""


def endless_loops(model: onnx.ModelProto, constants: Mapping[str, int]) -> Iterator[str]:
    """Name each Loop whose condition cannot become false and whose count does not end it.

    Args:
        model: any.
        constants: its constant bool and int64 scalars by name.
    """
    for node in every_node(model):
        is_loop = node.op_type == "Loop" and node.domain in DEFAULT_DOMAINS
        if not is_loop or not _goes_on(node, constants):
            continue
        count = next(iter(node.input), "")
        if not count:
            ends = "never ends: it has no trip count"
        elif (steps := constants.get(count, 0)) > _MOST_STEPS:
            ends = f"does not end: it has {steps} steps, more than {_MOST_STEPS}"
        else:
            continue
        yield f"node {label(node)!r} (Loop) {ends}, and its condition stays true"


def _goes_on(node: onnx.NodeProto, constants: Mapping[str, int]) -> bool:
    """Return whether the condition is true at the start and stays so."""
    begins = (*node.input, "", "")[1]
    body = next(subgraphs_of(node), None)
    if body is None or len(body.input) < 2 or not body.output:
        return False
    if begins and not constants.get(begins):
        return False
    same = {body.input[1].name}
    for inner in body.node:
        if inner.op_type == "Identity" and inner.input[:1] and inner.input[0] in same:
            same.update(inner.output)
    goes_on = body.output[0].name
    return goes_on in same or bool(constants.get(goes_on))
