"""CANN's kernels of Resize, transcribed: loops over output pixels in fp32.

They share nothing with ascendflow. `mode` is the spelling that sets the kernel's flags, as
the parser up to 8.4 reads it: `pytorch_half_pixel`, `align_corners`, or anything else.
Formulas: resize_bilinear_v2.py and resize_nearest_neighbor_v2.py, CANN 8.1.RC1.
"""

from __future__ import annotations

import numpy as np

F32 = np.float32


def flags(mode: str) -> tuple[bool, bool]:
    """(half_pixel_centers, align_corners) as the parser sets them: two strings only."""
    return mode == "pytorch_half_pixel", mode == "align_corners"


def position(i: int, n_in: int, n_out: int, mode: str) -> np.float32:
    half, corners = flags(mode)
    if corners and n_out > 1:
        return F32(i) * (F32(n_in - 1) / F32(n_out - 1))
    scale = F32(n_in) / F32(n_out)
    if half:
        return max(F32(0), (F32(i) + F32(0.5)) * scale - F32(0.5))
    return F32(i) * scale


def bilinear(x: np.ndarray, height: int, width: int, mode: str) -> np.ndarray:
    n, c, h, w = x.shape
    y = np.zeros((n, c, height, width), F32)
    for i in range(height):
        row = min(position(i, h, height, mode), F32(h - 1))
        r0 = int(row)
        r1, dr = min(r0 + 1, h - 1), row - F32(r0)
        for j in range(width):
            column = min(position(j, w, width, mode), F32(w - 1))
            c0 = int(column)
            c1, dc = min(c0 + 1, w - 1), column - F32(c0)
            y[:, :, i, j] = (
                x[:, :, r0, c0] * ((1 - dr) * (1 - dc))
                + x[:, :, r0, c1] * ((1 - dr) * dc)
                + x[:, :, r1, c0] * (dr * (1 - dc))
                + x[:, :, r1, c1] * (dr * dc)
            )
    return y


def nearest_index(i: int, n_in: int, n_out: int, mode: str, *, half_away: bool) -> int:
    half, corners = flags(mode)
    if corners:
        x = float(position(i, n_in, n_out, mode))
        index = int(x + 0.5) if half_away else round(x)
    elif half:
        index = int((F32(i) + F32(0.5)) * (F32(n_in) / F32(n_out)))
    else:
        index = int(F32(i) * (F32(n_in) / F32(n_out)))
    return min(index, n_in - 1)


def nearest(
    x: np.ndarray, height: int, width: int, mode: str, *, half_away: bool
) -> np.ndarray:
    rows = [
        nearest_index(i, x.shape[2], height, mode, half_away=half_away)
        for i in range(height)
    ]
    columns = [
        nearest_index(j, x.shape[3], width, mode, half_away=half_away) for j in range(width)
    ]
    return x[:, :, rows][:, :, :, columns]


def half_weights(x: np.ndarray, height: int, width: int, mode: str) -> np.ndarray:
    """310P: fp32 products of weights, rounded to fp16; sums in fp32, rounded once."""
    h, w = x.shape[2:]
    y = np.zeros((*x.shape[:2], height, width), F32)
    for i in range(height):
        row = min(position(i, h, height, mode), F32(h - 1))
        r0 = int(row)
        r1, dr = min(r0 + 1, h - 1), row - F32(r0)
        for j in range(width):
            column = min(position(j, w, width, mode), F32(w - 1))
            c0 = int(column)
            c1, dc = min(c0 + 1, w - 1), column - F32(c0)
            for r, c, weight in (
                (r0, c0, (1 - dr) * (1 - dc)),
                (r0, c1, (1 - dr) * dc),
                (r1, c0, dr * (1 - dc)),
                (r1, c1, dr * dc),
            ):
                y[:, :, i, j] += x[:, :, r, c] * F32(np.float16(weight))
    return y.astype(np.float16).astype(F32)


def picture(height: int, width: int, channels: int = 2) -> np.ndarray:
    """Random fp16 numbers in fp32, so that storage adds no rounding of the input."""
    x = np.random.default_rng(0).standard_normal((1, channels, height, width))
    return x.astype(np.float16).astype(F32)
