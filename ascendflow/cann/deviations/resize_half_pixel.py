"""Resize, linear: half_pixel, ONNX's default, sampled asymmetrically.

Up to 8.4 the parser turns two spellings of coordinate_transformation_mode into flags,
`pytorch_half_pixel` and `align_corners`; all others sample asymmetrically. From 8.5 on
it hands the spelling to the operator `Resize`, whose documents do not list half_pixel
although it is its default; what a pass that is not open makes of it is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.resize_family import KERNELS, OPEN, PARSER, ResizeDeviation
from ascendflow.cann.deviations.resize_places import NAMES, otherwise_sampled
from ascendflow.cann.resizing import BEHAVIOURS, PICTURE, Resizing, read_as_cann
from ascendflow.cann.sampling import Sampling
from ascendflow.graph.nodes import length_along
from ascendflow.graph.resize_node import FIRST_WITH_MODE, MODE, OnnxResize, read_resize

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.cann.deviations.deviation import Conditions

UNDECIDED = "CANN 8.5 and later hand 'half_pixel' to a pass that is not open"


class ResizeHalfPixel(ResizeDeviation):
    """half_pixel where no axis comes out as one element."""

    name: ClassVar[str] = "resize-half-pixel"
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "coordinate_transformation_mode defaults to half_pixel: output i reads the input "
        "at (i + 0.5) / scale - 0.5."
    )
    cann: ClassVar[str] = (
        "Up to 8.4 only the spellings `pytorch_half_pixel` and `align_corners` are read; "
        "half_pixel samples asymmetrically, at i / scale. From 8.5 on it is unknown."
    )
    cure: ClassVar[str | None] = "resize-half-pixel"
    source: ClassVar[str] = f"{PARSER}; {KERNELS}; {OPEN}"

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Name it where a size is open too: it reads elsewhere at nearly every size."""
        opened = _open_axes(node)
        is_read = isinstance(read_as_cann(node, conditions), Resizing)
        if not opened or is_read or _changes_nothing(node):
            return super().detect(node, conditions)
        where = f"the length of {' and '.join(opened)} is open"
        if conditions.profile.is_open:
            return Found(f"{UNDECIDED}; {where}", "unknown", BEHAVIOURS)
        return Found(f"'half_pixel' becomes asymmetric sampling; {where}", "silent")

    def judge(self, resizing: Resizing, conditions: Conditions) -> Detection:
        """Compare where half-pixel and asymmetric sampling read."""
        if not resizing.linear or resizing.onnx.mode != "half_pixel":
            return Harmless("it is not linear with half_pixel")
        if any(axis.becomes_one for axis in resizing.axes):
            return Harmless("an axis becomes 1, which `resize-length-one` is about")
        off = ", ".join(otherwise_sampled(resizing, Sampling.ASYMMETRIC))
        if not off:
            return Harmless("half-pixel and asymmetric sampling read the same places")
        if conditions.profile.is_open:
            return Found(f"{UNDECIDED}; along {off}", "unknown", BEHAVIOURS)
        return Found(f"'half_pixel' becomes asymmetric sampling along {off}", "silent")


def _open_axes(node: ir.Node) -> list[str]:
    """Name H and W where a linear half_pixel node's lengths are not fixed there."""
    value, mode = node.inputs[0], node.attributes.get_string(MODE, "half_pixel")
    is_linear = node.attributes.get_string("mode", "nearest") == "linear"
    is_old = node.version is not None and node.version < FIRST_WITH_MODE
    if not is_linear or is_old or mode != "half_pixel" or "axes" in node.attributes:
        return []
    if value is None or value.shape is None or len(value.shape) != PICTURE:
        return []
    ends = (value, node.outputs[0])
    return [
        name
        for axis, name in enumerate(NAMES, start=2)
        if any(length_along(end, axis) is None for end in ends)
    ]


def _changes_nothing(node: ir.Node) -> bool:
    onnx = read_resize(node)
    return isinstance(onnx, OnnxResize) and not any(axis.changes for axis in onnx.axes)


class ResizeLengthOne(ResizeDeviation):
    """half_pixel and pytorch_half_pixel where an axis comes out as one element."""

    name: ClassVar[str] = "resize-length-one"
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "At output length 1 half_pixel reads the centre, pytorch_half_pixel index 0."
    )
    cann: ClassVar[str] = (
        "The kernel's half-pixel sampling, which `pytorch_half_pixel` turns on, reads the "
        "centre at length 1 too; half_pixel, taken for asymmetric, reads index 0."
    )
    cure: ClassVar[str | None] = "resize-to-matmul"
    source: ClassVar[str] = f"{PARSER}; {KERNELS}; {OPEN}"

    def judge(self, resizing: Resizing, conditions: Conditions) -> Detection:
        """Compare where ONNX and the kernel read."""
        mode = resizing.onnx.mode
        if not resizing.linear or mode not in {"half_pixel", "pytorch_half_pixel"}:
            return Harmless("it is not linear with half_pixel or pytorch_half_pixel")
        if not any(axis.becomes_one for axis in resizing.axes):
            return Harmless("no axis of several elements becomes 1")
        undecided = conditions.profile.is_open and mode == "half_pixel"
        sampling = Sampling.ASYMMETRIC if undecided else resizing.sampling
        off = ", ".join(otherwise_sampled(resizing, sampling))
        if not off:
            return Harmless("ONNX and CANN read the same places")
        if undecided:
            return Found(f"{UNDECIDED}; along {off}", "unknown", BEHAVIOURS)
        return Found(
            f"{mode!r} becomes {sampling.value!r} sampling along {off}, where ONNX reads "
            + ("the centre" if mode == "half_pixel" else "index 0"),
            "silent",
        )
