"""How long the tables are that integer inputs look up: the values that such inputs take."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx

_SAME_NUMBERS = frozenset(
    {"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}
)
"""Operators that give back the numbers of their first input, whatever their shape."""


def table_lengths(model: onnx.ModelProto) -> dict[str, int]:
    """Return, of each graph input that Gather takes for indices, how many rows there are.

    Of several tables the shortest counts. Only constant tables of the main graph do; what
    is computed from an input, an index minus 500, says nothing of it.
    """
    moved = {
        node.output[0]: node.input[0]
        for node in model.graph.node
        if node.op_type in _SAME_NUMBERS and node.input and node.output
    }
    lengths: dict[str, int] = {}
    for index, length in _looked_up(model):
        name, seen = index, set[str]()
        while name in moved and name not in seen:  # a broken file may go round in circles
            seen.add(name)
            name = moved[name]
        lengths[name] = min(length, lengths.get(name, length))
    inputs = {value.name for value in model.graph.input}
    return {name: length for name, length in lengths.items() if name in inputs}


def _looked_up(model: onnx.ModelProto) -> Iterator[tuple[str, int]]:
    """Yield the indices of each Gather from a constant, and the length of its axis."""
    shapes = _constant_shapes(model)
    for node in model.graph.node:
        if node.op_type == "Gather" and len(node.input) == 2 and node.input[0] in shapes:
            shape = shapes[node.input[0]]
            axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
            if -len(shape) <= axis < len(shape) and shape[axis] > 0:
                yield node.input[1], shape[axis]


def _constant_shapes(model: onnx.ModelProto) -> Mapping[str, tuple[int, ...]]:
    found = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    for node in model.graph.node:
        for each in node.attribute if node.op_type == "Constant" else ():
            if each.name == "value" and node.output:
                found[node.output[0]] = tuple(each.t.dims)
    return found
