"""Resize and Upsample, linear or cubic -> a product with a matrix along each axis.

For what no spelling of Resize makes CANN compute: cubic, antialias, axes, regions of
interest, keep_aspect_ratio_policy, rank other than 4, sizes of N or C, an output length
of 1, scales that give no whole number of elements, rare modes, opset 10, Upsample. The
matrices are computed in float64 and hold what ONNX's definition weights elements with;
MatMul is exact in all versions, and what the matrix unit is for.

Values agree with onnxruntime's but for the order of additions. An element that is not
finite spreads along its row and column, where Resize spreads it to its neighbours only.

Source: ONNX operator docs, Resize-19 and Upsample-9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import Chain
from ascendflow.graph.resize_axes import matrix, matrix_elements, outside
from ascendflow.graph.resize_node import MODE, OnnxResize
from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.spelled_resize_base import SpelledResize

if TYPE_CHECKING:
    from ascendflow.documents.rewrite_log import Effect
    from ascendflow.graph.resize_axes import OnnxAxis

MOST_ELEMENTS = 1 << 24
"""Of one matrix, 64 MiB of fp32, or of what it is made from."""

_DTYPES = {ir.DataType.FLOAT: np.float32, ir.DataType.DOUBLE: np.float64}
_UNDERSTOOD = ("pytorch_half_pixel", "align_corners", "asymmetric")
"""Modes that CANN knows by name in every version."""


class ResizeToMatMul(SpelledResize):
    """Spell an interpolation as products with matrices."""

    name: ClassVar[str] = "resize-to-matmul"
    version: ClassVar[int] = 1
    effect: ClassVar[Effect] = "equivalent"

    def why_no_concern(self, node: ir.Node) -> str | None:
        """Take interpolations of types that matrices are made in."""
        if node.attributes.get_string("mode", "nearest") == "nearest":
            return "mode is 'nearest': rule resize-nearest-gather is for it"
        value = node.inputs[0]
        if value is not None and value.dtype in _DTYPES:
            return None
        known = "unknown" if value is None or value.dtype is None else value.dtype.name
        return f"its type is {known}, not FLOAT or DOUBLE"

    def why_not(self, node: ir.Node, resize: OnnxResize) -> str | None:
        """Leave what is too large, and what CANN computes the same."""
        return _why_not(node, resize)

    def spell(self, node: ir.Node, resize: OnnxResize) -> Applied:
        """Multiply by a matrix along each axis."""
        value = node.inputs[0]
        assert value is not None  # noqa: S101, it has a type
        assert value.dtype is not None  # noqa: S101
        before = {"mode": node.attributes.get_string("mode"), MODE: resize.mode}
        axes = _multiply(node, resize, _DTYPES[value.dtype])
        return Applied(node, before, {"op_type": "MatMul", "axes": axes})


def _why_not(node: ir.Node, resize: OnnxResize) -> str | None:
    """Return why a node is left as it is, or None."""
    for axis in (each for each in resize.axes if each.changes):
        elements = matrix_elements(axis, resize.weigh)
        if elements > MOST_ELEMENTS:
            sizes = f"{axis.length_in} to {axis.length_out}"
            return (
                f"an axis of {sizes} takes {elements} numbers to weight, of at most "
                f"{MOST_ELEMENTS}: too large"
            )
    if resize.dispute is not None:
        return resize.dispute
    is_cropped = any(outside(resize.mode, axis).any() for axis in resize.axes)
    if is_cropped and resize.extrapolation_value != 0:
        return f"it extrapolates with {resize.extrapolation_value:g}, not 0"
    if not _is_plain(node, resize):
        return None
    if resize.mode == "half_pixel":
        return "rule resize-half-pixel is for it, and is exact"
    return "CANN computes the same in every version"


def _is_plain(node: ir.Node, resize: OnnxResize) -> bool:
    """Whether a spelling of its mode is all that CANN needs."""
    odd = {"axes", "keep_aspect_ratio_policy"} & set(node.attributes)
    odd |= {"antialias"} if resize.weigh.antialias else set()
    return (
        resize.interpolation == "linear"
        and resize.has_mode
        and resize.mode in (*_UNDERSTOOD, "half_pixel")
        and not odd
        and len(resize.axes) == 4  # N, C, H, W
        and not any(axis.changes for axis in resize.axes[:2])
        and all(_has_own_scale(axis, resize.mode) for axis in resize.axes)
    )


def _has_own_scale(axis: OnnxAxis, mode: str) -> bool:
    """Whether the kernel's own scale is the given one, and length 1 means the same."""
    if mode == "align_corners":
        return True
    own = np.float32(axis.length_out) / np.float32(axis.length_in)
    return bool(np.float32(axis.scale) == own) and not (
        axis.becomes_one and "half_pixel" in mode
    )


def _multiply(node: ir.Node, resize: OnnxResize, dtype: Any) -> list[int]:
    """Put the products in the node's place; return the axes that they are along."""
    chain, rank = Chain(node), len(resize.axes)
    value, axes = node.inputs[0], []
    for number, axis in enumerate(resize.axes):
        if not axis.changes:
            continue
        weights = matrix(resize.mode, axis, resize.weigh).astype(dtype)
        if axis.length_in == axis.length_out and np.array_equal(
            weights, np.eye(axis.length_in)
        ):
            continue
        value = _along(chain, value, weights, number, rank)
        axes.append(number)
    if not axes:
        chain("Identity", [value])
    chain.put_in_place()
    return axes


def _along(
    chain: Chain, value: ir.Value | None, weights: np.ndarray, axis: int, rank: int
) -> ir.Value:
    """Multiply `value` with weights, length_out x length_in, along one axis."""
    role = f"weights_{axis}"
    if axis == rank - 2:
        return chain("MatMul", [chain.constant(role, weights), value])
    right = chain.constant(role, np.ascontiguousarray(weights.T))
    if axis == rank - 1:
        return chain("MatMul", [value, right])
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    turned = chain("Transpose", [value], {"perm": order})
    return chain("Transpose", [chain("MatMul", [turned, right])], {"perm": order})
