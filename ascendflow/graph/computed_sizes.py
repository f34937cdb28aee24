"""Sizes that a graph computes from shapes, element by element: numbers, or open lengths.

Exporters spell the sizes of a Resize so where the batch is open: Shape, Slice or Gather,
Concat with the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.nodes import constant, input_at
from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

    Element = int | str | None
    """A number, or the name of an open length, None where it has none."""

_STEPS = 64
"""How far back is looked; a graph has no loops, but may be long."""


def computed_sizes(value: ir.Value | None, steps: int = _STEPS) -> list[Element] | None:
    """Return the elements of a list of sizes, None where one of them is not followed."""
    if value is None or not steps:
        return None
    known = constant(value)
    if known is not None:
        whole = known.dtype.kind in "iu" and known.ndim <= 1
        return [int(each) for each in known.ravel()] if whole else None
    node = value.producer()
    if node is None or node.domain not in DEFAULT_DOMAINS:
        return None
    return _given_by(node, steps)


def _given_by(node: ir.Node, steps: int) -> list[Element] | None:
    if node.op_type == "Shape":
        return (
            None if {"start", "end"} & set(node.attributes) else lengths_of(node.inputs[0])
        )
    parts = [computed_sizes(each, steps - 1) for each in _lists(node)]
    lists = [part for part in parts if part is not None]
    if not lists or len(lists) != len(parts):
        return None
    if node.op_type in {"Concat", "Unsqueeze", "Cast", "Identity"}:
        return [element for each in lists for element in each]
    return _taken(node, lists[0])


def _lists(node: ir.Node) -> Sequence[ir.Value | None]:
    """Return the inputs that hold elements, none where the operator is not followed."""
    if node.op_type == "Concat":
        return node.inputs
    one = {"Unsqueeze", "Cast", "Identity", "Slice", "Gather"}
    return node.inputs[:1] if node.op_type in one else ()


def lengths_of(value: ir.Value | None) -> list[Element] | None:
    """Return the lengths of a tensor, None where its rank is unknown.

    ONNX: two open lengths of one name are equal.
    """
    if value is None or value.shape is None:
        return None
    return [length if isinstance(length, int) else length.value for length in value.shape]


def _taken(node: ir.Node, elements: list[Element]) -> list[Element] | None:
    """Take what a Slice or a Gather along the only axis takes."""
    given = [constant(input_at(node, index)) for index in range(1, 5)]
    if node.op_type == "Gather":
        indices = given[0]
        if indices is None or indices.ndim > 1:
            return None
        places = [int(each) for each in indices.ravel()]
        fits = all(-len(elements) <= place < len(elements) for place in places)
        return [elements[place] for place in places] if fits else None
    starts, ends, _, steps = given
    if starts is None or ends is None or starts.size != 1 or ends.size != 1:
        return None
    if input_at(node, 4) is not None and (steps is None or int(steps.ravel()[0]) != 1):
        return None
    return elements[int(starts.ravel()[0]) : int(ends.ravel()[0])]
