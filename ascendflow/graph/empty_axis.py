"""What a Slice node takes, as far as constants say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.nodes import constant, input_at

if TYPE_CHECKING:
    import onnx_ir as ir

_INPUTS_SINCE = 10
_AXES = 3
_Numbers = list[int] | None


def empty_axis(node: ir.Node) -> int | None:
    """Return an axis along which a Slice's constant start is its end, else None.

    Axes are as the node spells them, so may be negative. Both bounds are clamped alike,
    so equal bounds give nothing, whatever the length and the step.
    """
    starts, ends, axes = _bounds(node)
    if starts is None or ends is None:
        return None
    named = list(range(len(starts))) if axes is None else axes
    for axis, start, end in zip(named, starts, ends, strict=True):
        if start == end:
            return axis
    return None


def _bounds(node: ir.Node) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return starts, ends and axes, None for what is absent or computed."""
    if (node.version or _INPUTS_SINCE) < _INPUTS_SINCE:
        attributes = node.attributes
        starts, ends, axes = (
            list(attributes.get_ints(name)) if name in attributes else None
            for name in ("starts", "ends", "axes")
        )
        return starts, ends, axes
    starts, ends, axes = (_numbers(node, index) for index in (1, 2, _AXES))
    if axes is None and input_at(node, _AXES) is not None:
        return None, None, None  # which axes is computed
    return starts, ends, axes


def _numbers(node: ir.Node, index: int) -> _Numbers:
    array = constant(input_at(node, index))
    return None if array is None else [int(number) for number in array.reshape(-1)]
