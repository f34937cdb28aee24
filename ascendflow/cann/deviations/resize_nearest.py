"""Resize, nearest: CANN takes other elements than ONNX.

Up to 8.4 half_pixel, ONNX's default, gives floor(i * s); from 8.5 on floor((i + 0.5) * s),
as `pytorch_half_pixel` always has. With ONNX's default rounding, down at ties, half_pixel
is ceil((i + 0.5) * s - 1): the same but where (i + 0.5) * s is whole, which every even
shortening has. `nearest_mode` is never read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.resize_family import KERNELS, OPEN, PARSER, ResizeDeviation
from ascendflow.cann.deviations.resize_places import NAMES, spelled
from ascendflow.cann.sampling import Sampling, cann_nearest
from ascendflow.graph.resize_axes import NEAREST_MODES, onnx_nearest
from ascendflow.graph.resize_node import CROP

if TYPE_CHECKING:
    from ascendflow.cann.deviations.deviation import Conditions
    from ascendflow.cann.resizing import Resizing


class _Nearest(ResizeDeviation):
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent",)
    cure: ClassVar[str | None] = "resize-nearest-gather"
    source: ClassVar[str] = f"{PARSER}; {KERNELS}; {OPEN}"
    of_attributes: ClassVar[bool]

    def judge(self, resizing: Resizing, conditions: Conditions) -> Detection:
        """Compare the elements that ONNX and CANN take."""
        if resizing.linear:
            return Harmless("it is not nearest")
        ignored = _ignored(resizing)
        if ignored is None:
            half_away = conditions.soc.rounds_half_away
            off, rounding = _otherwise_taken(resizing, half_away=half_away)
            spells_it = resizing.onnx.nearest_mode in NEAREST_MODES[1:]
            if off and rounding and spells_it:
                ignored = f"nearest_mode {resizing.onnx.nearest_mode!r}, {off}"
        else:
            off = ignored
        if not off or self.of_attributes != (ignored is not None):
            return Harmless("ONNX and CANN take the same elements, or it is not this")
        if ignored is not None:
            return Found(f"CANN does not read {ignored}", "silent")
        mode = f"{resizing.onnx.mode!r} with {resizing.onnx.nearest_mode!r}"
        return Found(
            f"{mode} becomes {resizing.sampling.value!r} sampling, {off}", "silent"
        )


class ResizeNearestTie(_Nearest):
    """Other elements because of the mode, the scale, or how ties round."""

    name: ClassVar[str] = "resize-nearest-tie"
    onnx: ClassVar[str] = (
        "half_pixel reads (i + 0.5) / scale - 0.5, rounded to the nearest element, down "
        "at ties; other modes and the given scale are read too."
    )
    cann: ClassVar[str] = (
        "half_pixel takes floor(i * s) up to 8.4 and floor((i + 0.5) * s) from 8.5 on, by "
        "the kernel's own s = in / out; align_corners rounds ties by SoC."
    )
    of_attributes: ClassVar[bool] = False


class ResizeNearestAttr(_Nearest):
    """Other elements because an attribute is not read."""

    name: ClassVar[str] = "resize-nearest-attr"
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    onnx: ClassVar[str] = (
        "nearest_mode says how a position is rounded; roi and keep_aspect_ratio_policy "
        "say which elements and how many."
    )
    cann: ClassVar[str] = "None of the three is read."
    of_attributes: ClassVar[bool] = True


def _ignored(resizing: Resizing) -> str | None:
    onnx = resizing.onnx
    if onnx.policy_changes_lengths:
        lengths = [axis.length_out for axis in onnx.axes]
        return f"keep_aspect_ratio_policy, which makes {list(onnx.asked)} {lengths}"
    return "roi" if onnx.mode == CROP else None


def _otherwise_taken(resizing: Resizing, *, half_away: bool) -> tuple[str, bool]:
    """Return the axes that differ, "" for none, and whether a rounding makes them equal."""
    mode, rounding, off = resizing.onnx.mode, False, []
    # What no source decides on is another deviation's.
    sampling = Sampling.ASYMMETRIC if resizing.is_undecided else resizing.sampling
    for name, axis in zip(NAMES, resizing.axes, strict=True):
        taken = cann_nearest(sampling, axis.length_in, axis.length_out, half_away=half_away)
        asked = onnx_nearest(mode, resizing.onnx.nearest_mode, axis)
        wrong = int(np.count_nonzero(taken != asked))
        if wrong:
            off.append(f"{wrong} of {len(asked)} along {spelled(name, axis)}")
            rounding |= any(
                np.array_equal(taken, onnx_nearest(mode, each, axis))
                for each in NEAREST_MODES
            )
    return ", ".join(off), rounding
