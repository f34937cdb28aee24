"""Softmax-like operators before opset 13: where they coerce to two dimensions.

Source: ONNX operator docs, Softmax-11 and LogSoftmax-11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_ir as ir

COERCES_BELOW = 13
DEFAULT_AXIS = 1


@dataclass(frozen=True)
class LegacyAxis:
    """What a coercing node normalises over: everything from `axis` on.

    Attributes:
        axis: not negative.
        rank: number of dimensions of the input.
    """

    axis: int
    rank: int

    @property
    def is_last(self) -> bool:
        """Whether coercing changes nothing."""
        return self.axis == self.rank - 1


def coerces(node: ir.Node) -> bool:
    """Return whether the node's opset coerces, and its axis is not spelled as the last."""
    return (node.version or 0) < COERCES_BELOW and node.attributes.get_int("axis", 1) != -1


def read_legacy_axis(node: ir.Node) -> LegacyAxis | str:
    """Return what `node` normalises over, or why it does not coerce or is not known."""
    if (node.version or 0) >= COERCES_BELOW:
        return f"opset {node.version} does not coerce"
    shape = node.inputs[0].shape if node.inputs[0] is not None else None
    if shape is None:
        return "the rank of its input is not known"
    axis = node.attributes.get_int("axis", DEFAULT_AXIS)
    if not -len(shape) <= axis < len(shape):
        return f"axis {axis} is beyond rank {len(shape)}"
    return LegacyAxis(axis % len(shape), len(shape))
