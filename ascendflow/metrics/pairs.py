"""Two tensors as one stream of float64 blocks, however large they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BLOCK = 1 << 18
"""Elements per block: below, threads that take turns at Python's lock wait for each other
longer than they compute; above, nothing is won."""

EPSILON = 2.2e-16
"""Golden magnitudes up to this count as zero in a denominator. Source: msaccucmp."""


def kind_of(dtype: np.dtype) -> Literal["float", "discrete"] | None:
    """Say how tensors of `dtype` are compared: as numbers, for equality, or not at all.

    bfloat16 and the 8-bit floats of ml_dtypes are floats, its 2- and 4-bit integers are
    discrete; strings, objects and complex numbers are not compared.
    """
    if dtype.kind == "f" or dtype.name.startswith(("bfloat", "float")):
        return "float"
    if dtype.kind in "biu" or dtype.name.startswith(("int", "uint")):
        return "discrete"
    return None


def require_equal_shapes(golden: NDArray[np.generic], target: NDArray[np.generic]) -> None:
    """Raise ValueError, naming both shapes, unless they are the same."""
    if golden.shape != target.shape:
        raise ValueError(f"shapes differ: golden {golden.shape}, target {target.shape}")


def flat_pair(
    golden: NDArray[np.generic], target: NDArray[np.generic]
) -> tuple[Floats, Floats]:
    """Return both tensors as flat float64 vectors.

    Float64, because sums of squares in fp16 overflow past 65504.

    Raises:
        ValueError: the shapes differ.
    """
    require_equal_shapes(golden, target)
    return golden.astype(np.float64).ravel(), target.astype(np.float64).ravel()


def blocks(
    golden: NDArray[np.generic], target: NDArray[np.generic]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield both tensors in order, `BLOCK` elements at a time, as float64.

    The two buffers are reused: a block holds only until the next one is asked for, and
    its reader may overwrite it. Memory does not depend on the tensors' size, unless they
    are not C-contiguous (then each is copied once).

    Raises:
        ValueError: the shapes differ.
    """
    require_equal_shapes(golden, target)
    flat = golden.reshape(-1), target.reshape(-1)
    size = flat[0].size
    buffers = np.empty(min(BLOCK, size)), np.empty(min(BLOCK, size))
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        pair = buffers[0][: stop - start], buffers[1][: stop - start]
        for block, tensor in zip(pair, flat, strict=True):
            np.copyto(block, tensor[start:stop], casting="unsafe")
        yield pair
