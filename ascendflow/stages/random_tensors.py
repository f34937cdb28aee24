"""Tensors drawn at random, the same for the same seed on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.tensors import tensor_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ascendflow.tensors import TensorSpec

UNIT = (0.0, 1.0)
BITS = (0, 2)


def random_tensor(
    spec: TensorSpec, generator: np.random.Generator, bounds: Sequence[float] | None = None
) -> np.ndarray:
    """Draw one tensor, uniform over `bounds`.

    Args:
        spec: its dtype and shape; a bool tensor ignores `bounds`.
        generator: where the numbers come from.
        bounds: [low, high): high is not drawn. None: [0, 1) for floating point types,
            the integers 0 and 1 for integer types (indices that are always valid).

    Returns:
        An array of exactly `spec.dtype` and `spec.shape`.
    """
    import numpy as np

    dtype = tensor_dtype(spec.dtype)
    if dtype == np.dtype(bool):
        return generator.integers(0, 2, spec.shape, dtype=np.uint8).astype(bool)
    if dtype.kind in "iu":
        low, high = bounds or BITS
        return np.asarray(generator.integers(int(low), int(high), spec.shape, dtype=dtype))
    low, high = bounds or UNIT
    drawn = np.asarray(generator.random(spec.shape, dtype=np.float64)) * (high - low) + low
    return drawn.astype(dtype)


def drawn_from(spec: TensorSpec, bounds: Sequence[float] | None = None) -> str:
    """Say what `random_tensor` draws, e.g. "integers from [0, 2)"."""
    kind = tensor_dtype(spec.dtype).kind
    if kind == "b":
        return "true and false"
    what, otherwise = ("integers", BITS) if kind in "iu" else ("numbers", UNIT)
    low, high = bounds or otherwise
    return f"{what} from [{low:.9g}, {high:.9g})"
