"""From the order that elements have on the device back to that of the origin.

The device cuts the channels in rows of C0 (32 bytes: 16 of float16, 32 of int8; 8 of
float32), and matrices in squares; what does not fill them is padded.
Source: GE's formats in types.h, and msprobe 26.2's builtin_format_convert.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ascendflow.errors import StageError
from ascendflow.om.numbering import FORMATS, named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Values = NDArray[Any]
    Shape = tuple[int, ...]

ORIGINS = frozenset({"NCHW", "ND", "NCDHW", "NC", "NCL"})
"""Layouts that elements have in ONNX: one order, seen by different names."""

_CACHED = 1 << 15
"""Bytes that are transposed at a time: they stay in the first cache."""


def restored(
    values: Values,
    layout: int,
    shape: Sequence[int],
    *,
    origin: str = "NCHW",
    groups: int = 0,
) -> Values:
    """Return a tensor in the order of its origin; padding is dropped.

    Args:
        values: as it lay on the device, in its shape there.
        layout: the number of that order.
        shape: of the origin.
        origin: the layout of the origin, one of ORIGINS.
        groups: of a grouped convolution's weights.

    Raises:
        StageError: no way back is known, or the two shapes do not belong together.
    """
    shape, device = tuple(shape), named(FORMATS, layout)
    if origin not in ORIGINS:
        raise _refused(device, origin, values.shape, shape, "no way back is known")
    if device in ORIGINS:
        if math.prod(shape) != values.size:
            raise _refused(device, origin, values.shape, shape, "their sizes differ")
        return values.reshape(shape)
    if device not in _WAYS or groups > 1:
        why = f"{groups} groups are interleaved" if groups > 1 else "no way back is known"
        raise _refused(device, origin, values.shape, shape, why)
    expected, way = _WAYS[device]
    if values.shape != expected(values.shape, shape):
        raise _refused(device, origin, values.shape, shape, "the shapes do not fit")
    return way(values, shape)


def _refused(
    device: str, origin: str, shape: Sequence[int], wanted: Sequence[int], why: str
) -> StageError:
    told = [" x ".join(map(str, sizes)) or "a scalar" for sizes in (shape, wanted)]
    return StageError(
        f"{device} ({told[0]}) is not turned into {origin} ({told[1]}): {why}"
    )


def _planes_shape(device: Shape, origin: Shape) -> Shape | None:
    if len(device) != 5 or len(origin) != 4:
        return None
    n, c, h, w = origin
    return n, _rows(c, device[-1]), h, w, device[-1]


def _from_planes(values: Values, shape: Shape) -> Values:
    """NC1HWC0 -> NCHW."""
    n, c1, h, w, c0 = values.shape
    c, plane = shape[1], h * w
    rows = max(1, _CACHED // (c0 * values.itemsize))
    if plane <= rows:  # so small that a call for each would cost more than the transposing
        turned = values.transpose(0, 1, 4, 2, 3).reshape(n, c1 * c0, h, w)
        return np.ascontiguousarray(turned[:, :c])
    source = values.reshape(n, c1, plane, c0)
    made = np.empty((n, c, plane), values.dtype)
    for sample in range(n):
        for row in range(c1):
            into = made[sample, row * c0 : (row + 1) * c0]
            for at in range(0, plane, rows):
                part = source[sample, row, at : at + rows, : len(into)]
                into[:, at : at + rows] = part.T
    return made.reshape(shape)


def _volumes_shape(device: Shape, origin: Shape) -> Shape | None:
    if len(device) != 6 or len(origin) != 5:
        return None
    n, c, d, h, w = origin
    return n, d, _rows(c, device[-1]), h, w, device[-1]


def _from_volumes(values: Values, shape: Shape) -> Values:
    """NDC1HWC0 -> NCDHW."""
    n, d, c1, h, w, c0 = values.shape
    turned = values.transpose(0, 2, 5, 1, 3, 4).reshape(n, c1 * c0, d, h, w)
    return np.ascontiguousarray(turned[:, : shape[1]])


def _weights_shape(device: Shape, origin: Shape) -> Shape | None:
    if len(device) != 4 or len(origin) != 4:
        return None
    n, c, h, w = origin
    n0, c0 = device[2:]
    return _rows(c, c0) * h * w, _rows(n, n0), n0, c0


def _from_weights(values: Values, shape: Shape) -> Values:
    """FRACTAL_Z, (C1 H W, N1, N0, C0) -> NCHW."""
    n, c, h, w = shape
    _, n1, n0, c0 = values.shape
    c1 = _rows(c, c0)
    turned = values.reshape(c1, h, w, n1, n0, c0).transpose(3, 4, 0, 5, 1, 2)
    return np.ascontiguousarray(turned.reshape(n1 * n0, c1 * c0, h, w)[:n, :c])


def _matrices_shape(device: Shape, origin: Shape) -> Shape | None:
    if len(device) < 4 or not origin:
        return None
    (*batch, height, width), (n0, c0) = (1, *origin)[-max(len(origin), 2) :], device[-2:]
    return *batch, _rows(width, c0), _rows(height, n0), n0, c0


def _from_matrices(values: Values, shape: Shape) -> Values:
    """FRACTAL_NZ, (..., W1, H1, H0, W0) -> (..., H, W)."""
    *batch, w1, h1, h0, w0 = values.shape
    height, width = (1, *shape)[-2:]
    turned = values.reshape(math.prod(batch), w1, h1, h0, w0).transpose(0, 2, 3, 1, 4)
    made = turned.reshape(math.prod(batch), h1 * h0, w1 * w0)[:, :height, :width]
    return np.ascontiguousarray(made).reshape(shape)


def _rows(size: int, block: int) -> int:
    """Return how many blocks hold `size`; of blocks of nothing, none."""
    return -(-size // block) if block else 0


_WAYS: dict[str, tuple[Callable[[Shape, Shape], Shape | None], Callable[..., Values]]] = {
    "NC1HWC0": (_planes_shape, _from_planes),
    "NDC1HWC0": (_volumes_shape, _from_volumes),
    "FRACTAL_Z": (_weights_shape, _from_weights),
    "FRACTAL_NZ": (_matrices_shape, _from_matrices),
}
"""Layout -> the shape on the device that an origin's shape has, and the way back."""
