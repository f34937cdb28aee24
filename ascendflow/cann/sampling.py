"""Where CANN's kernels of Resize read their input.

One axis at a time. i is the output index, s = length_in / length_out as CANN computes it,
in fp32, whatever `scales` the ONNX node gives.

Sources: TBE kernels `resize_bilinear_v2.py` and `resize_nearest_neighbor_v2.py` of 8.1.RC1
and of canndev 2022-06; canndev `resize_plugin.cc`, 2021-07 to 2022-06; ops-nn
`resize_onnx_plugin.cpp`, 8.5.0 to 9.1.0.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Sampling(Enum):
    """The two flags of ResizeBilinearV2 and ResizeNearestNeighborV2; never both."""

    ASYMMETRIC = "asymmetric"
    HALF_PIXEL = "half_pixel"
    ALIGN_CORNERS = "align_corners"


def sampling_of(mode: str, *, is_open: bool, linear: bool) -> Sampling:
    """Return what CANN makes of ONNX's coordinate_transformation_mode.

    Up to 8.4 the parser knows two strings, and the default, `half_pixel`, is not one of
    them. From 8.5 on it knows that one too for nearest.

    Args:
        mode: the attribute, after its default.
        is_open: CANN is 8.5 or later.
        linear: it interpolates.
    """
    known = {
        "pytorch_half_pixel": Sampling.HALF_PIXEL,
        "align_corners": Sampling.ALIGN_CORNERS,
    }
    if is_open and not linear:
        known["half_pixel"] = Sampling.HALF_PIXEL
    return known.get(mode, Sampling.ASYMMETRIC)


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


def _scale(length_in: int, length_out: int) -> np.float32:
    return np.float32(length_in) / np.float32(length_out)


def _corner_scale(length_in: int, length_out: int) -> np.float32:
    if length_out == 1:
        return _scale(length_in, length_out)
    return np.float32(length_in - 1) / np.float32(length_out - 1)
