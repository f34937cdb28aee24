"""Where a value goes: the uses at which something is done with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

MOVING = frozenset(
    {
        "Cast", "Concat", "Dropout", "Expand", "Flatten", "Identity", "Reshape", "Slice",
        "Squeeze", "Tile", "Transpose", "Unsqueeze",
    }
)  # fmt: skip
"""Operators that give back the numbers they are given, elsewhere or in another type."""


class Use(NamedTuple):
    """One input of one node; None where the value is an output of its graph."""

    node: ir.Node | None
    position: int


def final_uses(value: ir.Value, through: frozenset[str] = MOVING) -> Iterator[Use]:
    """Give each use of `value`, looking through operators in `through`.

    Of operators that only move numbers the first input is what moves; of Concat and of
    others in `through`, every one. A Cast to an integer type is a use.
    """
    waiting, seen = [value], {value}
    while waiting:
        current = waiting.pop()
        if current.is_graph_output():
            yield Use(None, 0)
        for node, index in current.uses():
            if node.op_type in through and _passes_on(node, index):
                fresh = [v for v in node.outputs[:1] if v not in seen]
                seen.update(fresh)
                waiting.extend(fresh)
            else:
                yield Use(node, index)


def _passes_on(node: ir.Node, index: int) -> bool:
    import onnx_ir as ir

    if node.op_type == "Cast":
        to = node.attributes.get_int("to")
        return to in {ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.DOUBLE}
    return index == 0 or node.op_type not in MOVING - {"Concat"}
