"""Layouts of the device, against loops that put each element where the definition says."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.cann.dump.layouts import restored
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Values = NDArray[Any]
    Shape = tuple[int, ...]

NCHW, ND, NC1HWC0, FRACTAL_Z, FRACTAL_NZ, NCDHW, NDC1HWC0 = 0, 2, 3, 4, 29, 30, 32
C0S = [pytest.param(2, 16, id="float16"), pytest.param(4, 8, id="float32")]
C0S += [pytest.param(1, 32, id="int8"), pytest.param(4, 16, id="float32-of-16")]
PADDING = 77


def numbered(shape: Shape, size: int) -> Values:
    """Distinct elements, as far as the type can tell them apart."""
    kind = {1: np.int8, 2: np.float16, 4: np.float32}[size]
    return (np.arange(math.prod(shape)) % 113).astype(kind).reshape(shape)


def indices(values: Values) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, values.shape))


def up(size: int, block: int) -> int:
    blocks = 0
    while blocks * block < size:
        blocks += 1
    return blocks


def empty(shape: Shape, like: Values) -> Values:
    return np.full(shape, PADDING, like.dtype)


def planes(values: Values, c0: int) -> Values:
    n, c, h, w = values.shape
    made = empty((n, up(c, c0), h, w, c0), values)
    for i, j, y, x in indices(values):
        made[i, j // c0, y, x, j % c0] = values[i, j, y, x]
    return made


def volumes(values: Values, c0: int) -> Values:
    n, c, d, h, w = values.shape
    made = empty((n, d, up(c, c0), h, w, c0), values)
    for i, j, z, y, x in indices(values):
        made[i, z, j // c0, y, x, j % c0] = values[i, j, z, y, x]
    return made


def weights(values: Values, c0: int, n0: int = 16) -> Values:
    n, c, h, w = values.shape
    made = empty((up(c, c0) * h * w, up(n, n0), n0, c0), values)
    for i, j, y, x in indices(values):
        made[(j // c0 * h + y) * w + x, i // n0, i % n0, j % c0] = values[i, j, y, x]
    return made


def matrices(values: Values, c0: int, n0: int = 16) -> Values:
    *batch, height, width = (1, *values.shape) if values.ndim == 1 else values.shape
    made = empty((*batch, up(width, c0), up(height, n0), n0, c0), values)
    for place in indices(values):
        *before, y, x = (0, *place) if values.ndim == 1 else place
        made[(*before, x // c0, y // n0, y % n0, x % c0)] = values[place]
    return made


def check(layout: int, laid: Values, values: Values, origin: str) -> None:
    found = restored(laid, layout, values.shape, origin=origin)
    assert found.dtype == values.dtype
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(("size", "c0"), C0S)
@pytest.mark.parametrize(
    "shape",
    [
        *((1, 1, 1, 1), (2, 3, 4, 5), (1, 16, 3, 3), (1, 32, 2, 2), (2, 33, 1, 7)),
        *((1, 8, 65, 64), (1, 40, 33, 70), (0, 3, 4, 5), (1, 3, 0, 5), (1, 17, 46, 47)),
    ],
    ids=str,
)
def test_planes(shape: Shape, size: int, c0: int) -> None:
    values = numbered(shape, size)
    check(NC1HWC0, planes(values, c0), values, "NCHW")


@pytest.mark.parametrize(("size", "c0"), C0S)
@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 1, 1), (2, 3, 4, 5, 6), (1, 32, 2, 3, 1), (2, 35, 3, 1, 2)], ids=str
)
def test_volumes(shape: Shape, size: int, c0: int) -> None:
    values = numbered(shape, size)
    check(NDC1HWC0, volumes(values, c0), values, "NCDHW")
    check(NDC1HWC0, volumes(values, c0), values, "ND")


@pytest.mark.parametrize(("size", "c0"), C0S)
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1, 1), (8, 3, 7, 7), (16, 16, 1, 1), (17, 33, 3, 2), (33, 8, 1, 5)],
    ids=str,
)
def test_weights(shape: Shape, size: int, c0: int) -> None:
    values = numbered(shape, size)
    check(FRACTAL_Z, weights(values, c0), values, "NCHW")


@pytest.mark.parametrize(("size", "c0"), C0S)
@pytest.mark.parametrize(
    "shape",
    [
        (1,),
        (40,),
        (1, 1),
        (16, 16),
        (17, 33),
        (3, 5, 7),
        (2, 3, 20, 40),
        (1, 1, 2, 2),
        (2, 1, 3, 18, 5),
    ],
    ids=str,
)
def test_matrices(shape: Shape, size: int, c0: int) -> None:
    values = numbered(shape, size)
    check(FRACTAL_NZ, matrices(values, c0), values, "ND")
    check(FRACTAL_NZ, matrices(values, c0), values, "NCHW")


@pytest.mark.parametrize("layout", [NCHW, ND, NCDHW])
def test_origins_own_order_is_only_shaped(layout: int) -> None:
    values = numbered((2, 3, 4, 5), 2)

    check(layout, values.reshape(6, 20), values, "NCHW")
    assert restored(values[:1, 0, 0, 0], layout, ()).shape == ()


WAYS: dict[int, tuple[Callable[..., Values], Shape]] = {
    NC1HWC0: (planes, (2, 17, 3, 4)),
    NDC1HWC0: (volumes, (2, 17, 3, 4, 2)),
    FRACTAL_Z: (weights, (17, 18, 3, 3)),
    FRACTAL_NZ: (matrices, (2, 17, 18)),
}


@pytest.mark.parametrize("layout", WAYS)
def test_shapes_that_do_not_belong_together_are_refused(layout: int) -> None:
    way, shape = WAYS[layout]
    laid = way(numbered(shape, 2), 16)
    wider, more = (*shape[:-1], shape[-1] + 16), (shape[0] * 4, *shape[1:])
    for other in (wider, more, shape[1:], (*shape, 1), ()):
        with pytest.raises(StageError, match="the shapes do not fit"):
            restored(laid, layout, other)
    with pytest.raises(StageError, match="the shapes do not fit"):
        restored(laid[..., :0], layout, shape)


def test_what_has_no_way_back_is_refused_by_name() -> None:
    values = numbered((1, 1, 2, 2, 16), 2)

    with pytest.raises(StageError, match=r"NC1HWC0_C04 .*: no way back is known"):
        restored(values, 12, (1, 3, 2, 2))
    with pytest.raises(StageError, match=r"unknown \(200\) \(1 x 1 x 2 x 2 x 16\)"):
        restored(values, 200, (1, 3, 2, 2))
    with pytest.raises(StageError, match=r"is not turned into NHWC \(1 x 2 x 2 x 3\)"):
        restored(values, NC1HWC0, (1, 2, 2, 3), origin="NHWC")
    with pytest.raises(StageError, match="their sizes differ"):
        restored(values, ND, (1, 3, 2, 2))


def test_weights_of_a_grouped_convolution_are_refused() -> None:
    laid = weights(numbered((16, 4, 3, 3), 2), 16)

    with pytest.raises(StageError, match="4 groups are interleaved"):
        restored(laid, FRACTAL_Z, (16, 4, 3, 3), groups=4)
    assert restored(laid, FRACTAL_Z, (16, 4, 3, 3), groups=1).shape == (16, 4, 3, 3)


@pytest.mark.parametrize("layout", [NCHW, ND])
def test_elements_that_onnx_has_in_another_order_are_not_only_shaped(layout: int) -> None:
    values = np.zeros((1, 2, 2, 3), np.float32)

    with pytest.raises(StageError, match=r"into NHWC \(1 x 2 x 2 x 3\): no way back"):
        restored(values, layout, values.shape, origin="NHWC")
