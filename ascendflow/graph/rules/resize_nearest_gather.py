"""Resize and Upsample, nearest -> the same elements in a form that CANN reads alike.

By an integer factor upwards every rounding takes each element that many times over; that
is spelled asymmetric with nearest_mode floor, which CANN reads alike in every version.
Anything else becomes one Gather for each axis that changes, with int32 indices computed
here as onnxruntime computes them, so that no attribute is left to be read.

Source: ONNX operator docs, Resize-19 and Upsample-9; CANN canndev `resize_plugin.cc`,
2021-07 to 2022-06, and ops-nn `resize_onnx_plugin.cpp`, neither of which reads
nearest_mode; CANN 8.1.RC1 `resize_nearest_neighbor_v2.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import Chain
from ascendflow.graph.resize_axes import onnx_nearest, outside
from ascendflow.graph.resize_node import CROP, MODE, OnnxResize
from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.spelled_resize_base import SpelledResize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ascendflow.documents.rewrite_log import Effect
    from ascendflow.graph.resize_axes import OnnxAxis

SYMMETRIC = "half_pixel_symmetric"
PLAIN = ("asymmetric", "floor")


class ResizeNearestGather(SpelledResize):
    """Take the elements that ONNX says, whatever CANN reads."""

    name: ClassVar[str] = "resize-nearest-gather"
    version: ClassVar[int] = 1
    effect: ClassVar[Effect] = "exact"

    def why_no_concern(self, node: ir.Node) -> str | None:
        """Take nearest alone."""
        interpolation = node.attributes.get_string("mode", "nearest")
        if interpolation == "nearest":
            return None
        return f"mode is {interpolation!r}, not 'nearest'"

    def why_not(self, node: ir.Node, resize: OnnxResize) -> str | None:
        """Leave what CANN reads alike, and what no index can say."""
        if any(outside(resize.mode, axis).any() for axis in resize.axes):
            return f"{CROP} reads outside the input, which no index can"
        if resize.mode == SYMMETRIC:
            return f"how {SYMMETRIC} rounds is not known to the last bit"
        if _is_read_alike(node, resize):
            return "CANN takes the same elements in every version"
        return resize.dispute

    def spell(self, node: ir.Node, resize: OnnxResize) -> Applied:
        """Spell it plainly where it repeats elements; else as Gather."""
        before = {MODE: resize.mode, "nearest_mode": resize.nearest_mode}
        if resize.has_mode and _is_picture(node, resize) and _repeats(resize):
            _respell(node)
            return Applied(node, before, dict(zip(before, PLAIN, strict=True)))
        axes = _gather(node, resize)
        return Applied(node, before, {"op_type": "Gather", "axes": axes})


def _is_picture(node: ir.Node, resize: OnnxResize) -> bool:
    """Whether H and W of N, C, H, W are all that is resized, and no attribute is odd."""
    odd = {"axes", "keep_aspect_ratio_policy", "antialias"} & set(node.attributes)
    steady = not any(axis.changes for axis in resize.axes[:2])
    return not odd and len(resize.axes) == 4 and steady  # N, C, H, W


def _repeats(resize: OnnxResize) -> bool:
    """Whether each element is taken so many times over, and one after the other."""
    return all(
        axis.length_out % axis.length_in == 0
        and axis.scale == axis.length_out // axis.length_in
        and np.array_equal(_indices(resize, axis), _by_kernel(axis))
        for axis in resize.axes
    )


def _is_read_alike(node: ir.Node, resize: OnnxResize) -> bool:
    """Whether CANN takes the same elements whatever its version makes of the mode.

    An Upsample becomes a Resize whose mode is its default, so both samplings must agree.
    """
    spelled = resize.mode == "asymmetric" and (
        resize.nearest_mode == "floor" or not resize.has_mode
    )
    return (
        spelled
        and _is_picture(node, resize)
        and all(
            np.array_equal(_indices(resize, axis), _by_kernel(axis)) for axis in resize.axes
        )
        and (not resize.is_upsample or _repeats(resize))
    )


def _indices(resize: OnnxResize, axis: OnnxAxis) -> NDArray[np.int64]:
    return onnx_nearest(resize.mode, resize.nearest_mode, axis)


def _by_kernel(axis: OnnxAxis) -> NDArray[np.int64]:
    """Return floor(i * s) as the kernel computes it, in fp32 with its own scale."""
    i = np.arange(axis.length_out, dtype=np.float32)
    scale = np.float32(axis.length_in) / np.float32(axis.length_out)
    indices: NDArray[np.int64] = np.floor(i * scale).astype(np.int64)
    return np.minimum(indices, axis.length_in - 1)


def _respell(node: ir.Node) -> None:
    for name, text in zip((MODE, "nearest_mode"), PLAIN, strict=True):
        node.attributes[name] = ir.AttrString(name, text)


def _gather(node: ir.Node, resize: OnnxResize) -> list[int]:
    """Put one Gather for each axis that changes in the node's place; return the axes."""
    chain, value, axes = Chain(node), node.inputs[0], []
    for number, axis in enumerate(resize.axes):
        indices = _indices(resize, axis)
        if np.array_equal(indices, np.arange(axis.length_in)):
            continue
        constant = chain.constant(f"indices_{number}", indices.astype(np.int32))
        value = chain("Gather", [value, constant], {"axis": number})
        axes.append(number)
    if not axes:
        chain("Identity", [value])
    chain.put_in_place()
    return axes
