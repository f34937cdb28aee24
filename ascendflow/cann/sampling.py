"""Where a Resize reads its input: by ONNX's definition, and by CANN's kernels.

One axis at a time. i is the output index, s = length_in / length_out as CANN computes it,
in fp32, whatever `scales` the ONNX node gives.

Sources: TBE kernels `resize_bilinear_v2.py` and `resize_nearest_neighbor_v2.py` of 8.1.RC1
and of canndev 2022-06; ONNX operator docs, Resize-19.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Positions = NDArray[np.float32] | NDArray[np.float64]


class Sampling(Enum):
    """The two flags of ResizeBilinearV2 and ResizeNearestNeighborV2; never both."""

    ASYMMETRIC = "asymmetric"
    HALF_PIXEL = "half_pixel"
    ALIGN_CORNERS = "align_corners"


def parsed(coordinate_transformation_mode: str) -> Sampling:
    """Return what the parser of CANN up to 8.1 makes of ONNX's attribute.

    It knows two strings. The default, `half_pixel`, is not one of them.
    """
    known = {
        "pytorch_half_pixel": Sampling.HALF_PIXEL,
        "align_corners": Sampling.ALIGN_CORNERS,
    }
    return known.get(coordinate_transformation_mode, Sampling.ASYMMETRIC)


def cann_linear(sampling: Sampling, length_in: int, length_out: int) -> NDArray[np.float32]:
    """Positions of ResizeBilinearV2, in [0, length_in - 1].

    Half-pixel has no special case for length_out = 1: it reads the centre.
    """
    i = np.arange(length_out, dtype=np.float32)
    half = np.float32(0.5)
    if sampling is Sampling.HALF_PIXEL:
        x = (i + half) * _scale(length_in, length_out) - half
    elif sampling is Sampling.ALIGN_CORNERS:
        x = i * _corner_scale(length_in, length_out)
    else:
        x = i * _scale(length_in, length_out)
    inside: NDArray[np.float32] = np.clip(x, 0, length_in - 1).astype(np.float32)
    return inside


def cann_nearest(
    sampling: Sampling, length_in: int, length_out: int, *, half_away: bool
) -> NDArray[np.int64]:
    """Indices of ResizeNearestNeighborV2; `nearest_mode` is never read.

    Args:
        sampling: the kernel's flags.
        length_in: elements along the axis going in.
        length_out: elements coming out.
        half_away: with align_corners, ties go away from zero instead of to even.
    """
    i = np.arange(length_out, dtype=np.float32)
    if sampling is Sampling.HALF_PIXEL:
        x = np.floor((i + np.float32(0.5)) * _scale(length_in, length_out))
    elif sampling is Sampling.ALIGN_CORNERS:
        x = i * _corner_scale(length_in, length_out)
        x = np.floor(x + np.float32(0.5)) if half_away else np.rint(x)
    else:
        x = np.floor(i * _scale(length_in, length_out))
    indices: NDArray[np.int64] = np.clip(x, 0, length_in - 1).astype(np.int64)
    return indices


@dataclass(frozen=True)
class OnnxAxis:
    """How ONNX resizes one axis; `scale` is the given one, or out / in for given sizes."""

    length_in: int
    length_out: int
    scale: float


def onnx_positions(mode: str, axis: OnnxAxis) -> NDArray[np.float64]:
    """Positions by ONNX's definition; `tf_crop_and_resize` is not among them.

    Args:
        mode: coordinate_transformation_mode.
        axis: lengths and scale.
    """
    i = np.arange(axis.length_out, dtype=np.float64)
    if mode == "half_pixel_symmetric":
        centre = axis.length_in / 2
        offset = centre * (1 - axis.length_out / (axis.scale * axis.length_in))
        return offset + (i + 0.5) / axis.scale - 0.5
    if mode == "align_corners":
        last = axis.length_out - 1
        return i * (axis.length_in - 1) / last if last else np.zeros(1)
    if mode == "asymmetric":
        return i / axis.scale
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) / axis.scale
    if mode == "pytorch_half_pixel" and axis.length_out == 1:
        return np.zeros(1)
    return (i + 0.5) / axis.scale - 0.5


def onnx_nearest(mode: str, nearest_mode: str, axis: OnnxAxis) -> NDArray[np.int64]:
    """Indices by ONNX's definition, clamped to the axis."""
    x = onnx_positions(mode, axis)
    if nearest_mode == "floor":
        rounded = np.floor(x)
    elif nearest_mode == "ceil":
        rounded = np.ceil(x)
    elif nearest_mode == "round_prefer_ceil":
        rounded = np.floor(x + 0.5)
    else:
        rounded = np.ceil(x - 0.5)
    return np.clip(rounded, 0, axis.length_in - 1).astype(np.int64)


def _scale(length_in: int, length_out: int) -> np.float32:
    return np.float32(length_in) / np.float32(length_out)


def _corner_scale(length_in: int, length_out: int) -> np.float32:
    if length_out == 1:
        return _scale(length_in, length_out)
    return np.float32(length_in - 1) / np.float32(length_out - 1)
