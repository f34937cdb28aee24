"""Reads a Resize or Upsample node the way CANN's parser reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.cann.detection import Found
from ascendflow.cann.sampling import Sampling, sampling_of
from ascendflow.graph.resize_node import FIRST_WITH_MODE, OnnxResize, read_resize

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.cann.deviations.deviation import Conditions
    from ascendflow.graph.resize_axes import OnnxAxis

NAMES = "NCHW"
PICTURE = 4
"""Rank of N, C, H, W: the parser takes elements 2 and 3 of the sizes."""

HONOURED = "half_pixel samples at half pixels"
AS_ASYMMETRIC = "half_pixel samples asymmetrically"
BEHAVIOURS = (HONOURED, AS_ASYMMETRIC)
"""What the `Resize` operator of CANN 8.5 on may make of half_pixel, which is its default
too: a pass that is not open decides. Which of them holds, holds for all nodes."""


@dataclass(frozen=True)
class Resizing:
    """One linear or nearest Resize over the two last axes of N, C, H, W.

    Attributes:
        onnx: what ONNX says of it.
        sampling: what CANN makes of it.
        is_undecided: what CANN makes of it depends on `BEHAVIOURS`; `sampling` is by the
            one that the conditions name.
    """

    onnx: OnnxResize
    sampling: Sampling
    is_undecided: bool

    @property
    def linear(self) -> bool:
        """Whether it interpolates."""
        return self.onnx.interpolation == "linear"

    @property
    def axes(self) -> tuple[OnnxAxis, OnnxAxis]:
        """H and W, as ONNX resizes them."""
        height, width = self.onnx.axes[2:]
        return height, width

    @property
    def lengths(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Length in and out of H and W, as CANN resizes them: it reads no policy."""
        (rows, columns), (height, width) = self.axes, self.onnx.asked[2:]
        return (rows.length_in, height), (columns.length_in, width)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """N, C, H, W as CANN computes them; an open N or C counts as 1."""
        return self.onnx.asked


def read_as_cann(node: ir.Node, conditions: Conditions) -> Resizing | Found:
    """Read `node`, or say why CANN refuses it or no model of it exists."""
    is_open = conditions.profile.is_open
    interpolation = node.attributes.get_string("mode", "nearest")
    if interpolation not in {"linear", "nearest"}:
        # In source up to 6.0, carried on to 8.4; opset 10 in every version that was read.
        is_opset_10 = node.version is not None and node.version < FIRST_WITH_MODE
        refused = not is_open or is_opset_10
        does = "refuses" if refused else "hands to a pass that is not open"
        return Found(
            f"CANN's parser {does} mode {interpolation!r}",
            "rejected" if refused else "unknown",
        )
    onnx = _of_pictures(node)
    if isinstance(onnx, Found):
        return onnx
    linear = interpolation == "linear"
    unset = not onnx.has_mode and (linear or onnx.is_upsample)
    undecided = is_open and (unset or (linear and onnx.mode == "half_pixel"))
    sampling = sampling_of(onnx.mode, is_open=is_open, linear=linear)
    if undecided:
        honoured = BEHAVIOURS[conditions.alternative] == HONOURED
        sampling = Sampling.HALF_PIXEL if honoured else Sampling.ASYMMETRIC
    return Resizing(onnx, sampling, undecided)


def _of_pictures(node: ir.Node) -> OnnxResize | Found:
    """Read a node that resizes H and W of N, C, H, W, or say why it is none."""
    if "axes" in node.attributes:
        return Found(
            "CANN does not read `axes`, so it takes other elements of the sizes", "unknown"
        )
    value = node.inputs[0]
    rank = None if value is None or value.shape is None else len(value.shape)
    if rank != PICTURE:
        return Found(
            f"its input has rank {rank or 'unknown'}, not 4: N, C, H, W", "unknown"
        )
    onnx = read_resize(node)
    if isinstance(onnx, str):
        return Found(onnx, "unknown")
    if spatial := sorted(onnx.open_axes & {2, 3}):
        named = " and ".join(NAMES[axis] for axis in spatial)
        return Found(f"the length of {named} is not fixed", "unknown")
    # The kernel resizes H and W only, whatever is said of the others.
    if any(axis.changes for axis in onnx.axes[:2]):
        lengths = [axis.length_in for axis in onnx.axes]
        return Found(
            f"it resizes N or C too, {lengths} to {list(onnx.asked)}; CANN takes only the "
            "sizes of H and W",
            "unknown",
        )
    return onnx
