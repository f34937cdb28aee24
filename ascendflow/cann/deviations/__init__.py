"""The deviations, in the order in which the emulator applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.cann.deviations.resize import ResizeSampling
from ascendflow.cann.deviations.resize_half_weights import ResizeHalfWeights

if TYPE_CHECKING:
    from ascendflow.cann.deviations.deviation import Deviation

DEVIATIONS: tuple[Deviation, ...] = (ResizeSampling(), ResizeHalfWeights())
