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
from ascendflow.cann.deviations.resize_places import otherwise_sampled
from ascendflow.cann.resizing import BEHAVIOURS
from ascendflow.cann.sampling import Sampling

if TYPE_CHECKING:
    from ascendflow.cann.deviations.deviation import Conditions
    from ascendflow.cann.resizing import Resizing

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
