"""Resize, linear: what CANN does not read beside the mode, and the scale it replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.resize_family import KERNELS, OPEN, PARSER, ResizeDeviation
from ascendflow.cann.deviations.resize_places import (
    NAMES,
    by_lengths,
    otherwise_sampled,
    same_places,
    spelled,
)
from ascendflow.graph.resize_axes import onnx_positions
from ascendflow.graph.resize_node import CROP, MODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.cann.deviations.deviation import Conditions
    from ascendflow.cann.resizing import Resizing

_RARE = ("half_pixel_symmetric", "tf_half_pixel_for_nn")
"""Modes that the documents of the operator do not name."""


class ResizeIgnoredAttr(ResizeDeviation):
    """antialias, keep_aspect_ratio_policy, roi with its extrapolation, and rare modes."""

    name: ClassVar[str] = "resize-ignored-attr"
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "antialias widens the filter where an axis is shortened; keep_aspect_ratio_policy "
        "changes the sizes; tf_crop_and_resize reads the roi only."
    )
    cann: ClassVar[str] = (
        "None of them is read: 8.5 and later log a warning, which ATC does not show at its "
        "default level. From 8.5 on rare modes go to a pass that is not open."
    )
    cure: ClassVar[str | None] = "resize-to-matmul"
    source: ClassVar[str] = f"{PARSER}; {KERNELS}; {OPEN}"

    def judge(self, resizing: Resizing, conditions: Conditions) -> Detection:
        """List the attributes that change ONNX's values here."""
        if not resizing.linear:
            return Harmless("it is not linear")
        onnx = resizing.onnx
        passed_on = onnx.mode == CROP or onnx.mode in _RARE
        if conditions.profile.is_open and passed_on:
            return Found(f"{onnx.mode!r} goes to a pass that is not open", "unknown")
        names = ", ".join(_ignored(resizing))
        if names:
            return Found(f"CANN does not read {names}", "silent")
        return Harmless("no attribute that CANN ignores changes anything")


def _ignored(resizing: Resizing) -> Iterator[str]:
    onnx = resizing.onnx
    if onnx.weigh.antialias and any(axis.scale < 1 for axis in resizing.axes):
        yield "antialias"
    if onnx.policy_changes_lengths:
        lengths = [axis.length_out for axis in onnx.axes]
        yield f"keep_aspect_ratio_policy, which makes {list(onnx.asked)} {lengths}"
    if onnx.mode == CROP:
        yield "roi"
    elif onnx.mode in _RARE and any(otherwise_sampled(resizing, resizing.sampling)):
        yield f"{MODE} {onnx.mode!r}, and samples asymmetrically"


class ResizeOwnScale(ResizeDeviation):
    """scales that do not give a whole number of elements."""

    name: ClassVar[str] = "resize-own-scale"
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = "Positions are computed with the scale that the node gives."
    cann: ClassVar[str] = (
        "The kernel computes its own scale from the lengths, in / out; `scales` only give "
        "the output's size, cut to a whole number. From 8.5 on a pass that is not open "
        "gets both where it interpolates, and either may count."
    )
    cure: ClassVar[str | None] = "resize-to-matmul"
    source: ClassVar[str] = f"{PARSER}; {KERNELS}; {OPEN}"

    def judge(self, resizing: Resizing, conditions: Conditions) -> Detection:
        """Compare ONNX's positions by either scale."""
        if not resizing.linear or resizing.onnx.policy_changes_lengths:
            return Harmless("it is not linear, or a policy changes its lengths")
        mode = resizing.onnx.mode
        for name, axis in zip(NAMES, resizing.axes, strict=True):
            own = by_lengths(axis)
            here, there = onnx_positions(mode, own), onnx_positions(mode, axis)
            if not same_places(here, there, axis.length_in):
                is_open = conditions.profile.is_open
                takes = "may take" if is_open else "takes"
                return Found(
                    f"along {spelled(name, axis)} the scale is {axis.scale:.7g}, CANN "
                    f"{takes} {own.scale:.7g}",
                    "unknown" if is_open else "silent",
                )
        return Harmless("the scales are those of the lengths")
