"""Nodes that choose among values and give back where they are: ArgMax, ArgMin, TopK."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.graph.outline import label, read_by
from ascendflow.graph.structure import read_structure

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

INDICES = {"ArgMax": 0, "ArgMin": 0, "TopK": 1}
"""Operator -> which of its outputs holds indices."""


class Chooser(NamedTuple):
    """One such node.

    Attributes:
        node: its name.
        op_type: its operator.
        values: the tensor that it chooses from.
        indices: the tensor that it gives.
        axis: along which; may be negative.
        keeps_axis: whether `indices` has as many dimensions as `values`.
    """

    node: str
    op_type: str
    values: str
    indices: str
    axis: int
    keeps_axis: bool


def choosers_before(path: Path, outputs: list[str]) -> dict[str, list[Chooser]]:
    """Find the nearest such nodes on each way up from each of `outputs`."""
    nodes = read_structure(path).model.graph.node
    makers = {name: node for node in nodes for name in node.output if name}
    return {output: _before(output, makers) for output in outputs}


def _before(output: str, makers: dict[str, onnx.NodeProto]) -> list[Chooser]:
    found: dict[str, Chooser] = {}
    seen: set[str] = set()
    waiting = [output]
    while waiting:
        tensor = waiting.pop()
        node = makers.get(tensor)
        if node is None or tensor in seen:
            continue
        seen.add(tensor)
        place = INDICES.get(node.op_type)
        if place is not None and node.output[place] == tensor:
            found[tensor] = _chooser(node, place)
        else:
            waiting += read_by(node)
    return list(found.values())


def _chooser(node: onnx.NodeProto, place: int) -> Chooser:
    given = {each.name: each.i for each in node.attribute}
    keeps_axis = node.op_type == "TopK" or bool(given.get("keepdims", 1))
    axis = given.get("axis", -1 if node.op_type == "TopK" else 0)
    return Chooser(
        label(node), node.op_type, node.input[0], node.output[place], axis, keeps_axis
    )
