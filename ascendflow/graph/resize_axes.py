"""Resize and Upsample as ONNX defines them: axis by axis, from which places they read.

A position is a place along the input axis, in elements; i is the output index. Positions
are computed in the type asked for: onnxruntime, which makes the golden, uses fp32.

Source: ONNX operator docs, Resize-10 to -19 and Upsample-9. Resize-10 and Upsample-9 do
not say how `nearest` rounds; onnxruntime takes the ceiling where it makes an axis shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Positions = NDArray[np.float32] | NDArray[np.float64]

NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
TIE = 1e-6
"""How near to the middle between two elements onnxruntime takes a position for a tie."""
BEFORE_11 = "floor, or ceil where it shortens"
"""How onnxruntime rounds where there is no `nearest_mode` yet."""


@dataclass(frozen=True)
class OnnxAxis:
    """How ONNX resizes one axis.

    Attributes:
        length_in: elements going in.
        length_out: elements coming out.
        scale: the given one, or out / in for given sizes.
        start: where the region of interest starts, as a share of the axis.
        end: where it ends.
    """

    length_in: int
    length_out: int
    scale: float
    start: float = 0.0
    end: float = 1.0

    @property
    def changes(self) -> bool:
        """Whether the axis may come out other than it went in."""
        whole = (self.start, self.end) == (0.0, 1.0)
        return self.length_in != self.length_out or self.scale != 1 or not whole

    @property
    def becomes_one(self) -> bool:
        """Whether only one element is left of several."""
        return self.length_out == 1 != self.length_in


def onnx_positions(mode: str, axis: OnnxAxis, dtype: Any = np.float64) -> Positions:
    """Positions by ONNX's definition, not clamped to the axis.

    Args:
        mode: coordinate_transformation_mode.
        axis: lengths, scale and region.
        dtype: np.float32 or np.float64, in which they are computed.
    """
    i = np.arange(axis.length_out, dtype=dtype)
    scale, half = dtype(axis.scale), dtype(0.5)
    last_in, last = dtype(axis.length_in - 1), dtype(axis.length_out - 1)
    start, end = dtype(axis.start), dtype(axis.end)
    x: Positions = (i + half) / scale - half
    if mode == "half_pixel_symmetric":
        adjusted = dtype(axis.length_out) / (scale * dtype(axis.length_in))
        x = dtype(axis.length_in) / 2 * (1 - adjusted) + x
    elif mode == "align_corners":
        x = i * last_in / max(last, dtype(1))
    elif mode == "tf_crop_and_resize":
        x = start * last_in + i * (end - start) * last_in / max(last, dtype(1))
        x = x if last else np.full(1, half * (start + end) * last_in, dtype)
    elif mode == "asymmetric":
        x = i / scale
    elif mode == "tf_half_pixel_for_nn":
        x = (i + half) / scale
    elif mode == "pytorch_half_pixel" and not last:
        x = np.zeros(1, dtype)
    return x


def onnx_nearest(mode: str, nearest_mode: str, axis: OnnxAxis) -> NDArray[np.int64]:
    """Indices by ONNX's definition in onnxruntime's fp32, clamped to the axis.

    onnxruntime takes an axis whose scale is 1 as it is, whatever modes and region say.
    """
    if axis.length_in == axis.length_out and axis.scale == 1:
        return np.arange(axis.length_in)
    x = onnx_positions(mode, axis, np.float32)
    if nearest_mode == BEFORE_11:
        nearest_mode = "ceil" if axis.scale < 1 else "floor"
    whole = np.floor(x)
    if nearest_mode == "floor":
        rounded = whole
    elif nearest_mode == "ceil":
        rounded = np.ceil(x)
    else:
        past = x.astype(np.float64) - whole
        is_tie = np.abs(past - 0.5) <= TIE
        up = np.where(is_tie, nearest_mode == "round_prefer_ceil", past > 0.5)
        rounded = whole + up
    return np.clip(rounded, 0, axis.length_in - 1).astype(np.int64)


def outside(mode: str, axis: OnnxAxis) -> NDArray[np.bool_]:
    """Return which outputs are extrapolated; only `tf_crop_and_resize` does that."""
    if mode != "tf_crop_and_resize":
        return np.zeros(axis.length_out, bool)
    x = onnx_positions(mode, axis)
    return (x < 0) | (x > axis.length_in - 1)


@dataclass(frozen=True)
class Filter:
    """How elements around a position are weighted.

    Attributes:
        cubic_coeff_a: of the cubic filter; None: linear.
        antialias: stretch the filter where the axis is shortened.
        exclude_outside: leave out what is beyond the axis, instead of repeating its ends.
    """

    cubic_coeff_a: float | None = None
    antialias: bool = False
    exclude_outside: bool = False

    @property
    def reach(self) -> int:
        """How many elements it reaches to each side, not stretched."""
        return 1 if self.cubic_coeff_a is None else 2

    def __call__(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights at these distances."""
        t = np.abs(distance)
        a = self.cubic_coeff_a
        if a is None:
            return np.asarray(np.clip(1 - t, 0, None), np.float64)
        near = ((a + 2) * t - (a + 3)) * t * t + 1
        far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
        weights: NDArray[np.float64] = np.where(t <= 1, near, np.where(t < 2, far, 0.0))
        return weights


def matrix_elements(axis: OnnxAxis, weigh: Filter) -> int:
    """Return how many numbers `matrix` holds at once: its own, or for each tap of a row 4.

    Those are its place, its weight, its row, and what they are computed from.
    """
    return axis.length_out * max(axis.length_in, 4 * len(_offsets(axis, weigh)))


def matrix(mode: str, axis: OnnxAxis, weigh: Filter) -> NDArray[np.float64]:
    """Return the interpolation along one axis as a matrix, length_out x length_in.

    Rows of outputs that are extrapolated are zero.
    """
    x = onnx_positions(mode, axis)
    taps = np.floor(x).astype(np.int64)[:, None] + np.array(_offsets(axis, weigh))
    weights = weigh((taps - x[:, None]) * _shrink(axis, weigh))
    inside = (taps >= 0) & (taps < axis.length_in)
    if weigh.exclude_outside:
        weights = np.where(inside, weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    weights[outside(mode, axis)] = 0
    made = np.zeros((axis.length_out, axis.length_in))
    rows = np.broadcast_to(np.arange(axis.length_out)[:, None], taps.shape)
    np.add.at(made, (rows, np.clip(taps, 0, axis.length_in - 1)), weights)
    return made


def _shrink(axis: OnnxAxis, weigh: Filter) -> float:
    return min(axis.scale, 1.0) if weigh.antialias else 1.0


def _offsets(axis: OnnxAxis, weigh: Filter) -> range:
    """Return where the taps of a row lie, from the element at or before its position."""
    reach = math.ceil(weigh.reach / _shrink(axis, weigh)) + 1
    return range(-reach, reach + 1)
