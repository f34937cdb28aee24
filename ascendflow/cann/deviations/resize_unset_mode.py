"""Upsample, and Resize of opset 10: coordinate_transformation_mode is not set.

Neither has the attribute in ONNX; both sample asymmetrically there. The parsers make the
operator `Resize` of them without setting it, so that its default, half_pixel, applies.
Up to 8.4 that samples asymmetrically, which is right by accident. What CANN 8.5 and later
make of half_pixel is unknown. Resize-10 with nearest is not among them: its flags are set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.resize_family import OPEN, PARSER, ResizeDeviation
from ascendflow.cann.deviations.resize_places import behaviours_differ, has_own_scale
from ascendflow.cann.resizing import BEHAVIOURS

if TYPE_CHECKING:
    from ascendflow.cann.deviations.deviation import Conditions
    from ascendflow.cann.resizing import Resizing


class _UnsetMode(ResizeDeviation):
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    linear: ClassVar[bool]

    def judge(self, resizing: Resizing, conditions: Conditions) -> Detection:
        """Find nodes whose values depend on what half_pixel becomes."""
        if resizing.onnx.has_mode or resizing.linear != self.linear:
            return Harmless("it is another opset or interpolation")
        if not conditions.profile.is_open:
            return Harmless("the operator's default samples asymmetrically up to 8.4")
        if not behaviours_differ(resizing):
            return Harmless("half-pixel and asymmetric sampling read the same places")
        if resizing.onnx.is_upsample and not all(map(has_own_scale, resizing.axes)):
            scales = [axis.scale for axis in resizing.axes]
            return Found(f"its scales {scales} give no whole lengths", "unknown")
        (height, to_height), (width, to_width) = resizing.lengths
        return Found(
            "the parser sets no coordinate_transformation_mode, so that the operator's "
            "default half_pixel applies, which a pass that is not open decides on; "
            f"H {height} -> {to_height}, W {width} -> {to_width}",
            "unknown",
            BEHAVIOURS,
        )


class UpsampleLinear(_UnsetMode):
    """Upsample, linear."""

    name: ClassVar[str] = "upsample-ctm"
    op_types: ClassVar[frozenset[str]] = frozenset({"Upsample"})
    onnx: ClassVar[str] = "Upsample samples asymmetrically: output i reads i / scale."
    cann: ClassVar[str] = (
        "Upsample becomes Resize with no coordinate_transformation_mode, whose default is "
        "half_pixel: asymmetric up to 8.4, from 8.5 on unknown."
    )
    cure: ClassVar[str | None] = "resize-to-matmul"
    source: ClassVar[str] = (
        "canndev upsample_plugin.cc 2022-06; ops-cv upsample_onnx_plugin.cpp"
    )
    linear: ClassVar[bool] = True


class UpsampleNearest(UpsampleLinear):
    """Upsample, nearest, by a scale that is no integer."""

    name: ClassVar[str] = "upsample-nearest-ctm"
    cure: ClassVar[str | None] = "resize-nearest-gather"
    linear: ClassVar[bool] = False


class ResizeOpset10(_UnsetMode):
    """Resize-10, linear."""

    name: ClassVar[str] = "resize-opset10-ctm"
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    onnx: ClassVar[str] = "Resize-10 samples asymmetrically: output i reads i / scale."
    cann: ClassVar[str] = (
        "A linear Resize of opset 10 gets no coordinate_transformation_mode, whose default "
        "is half_pixel: asymmetric up to 8.4, from 8.5 on unknown."
    )
    cure: ClassVar[str | None] = "resize-to-matmul"
    source: ClassVar[str] = f"{PARSER}; {OPEN} (BuildLinearResizeV10)"
    linear: ClassVar[bool] = True
