"""Which numbers of an array fp16 cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    import numpy as np

HALF_TINY = 2.0**-24
"""The smallest fp16 number above 0."""


def beyond(array: np.ndarray) -> float | None:
    """Return the element that is farthest beyond +-65504, or None; NaN is not beyond."""
    import numpy as np

    if not array.size:
        return None
    low, high = array.min(), array.max()
    if low >= -HALF_MAX and high <= HALF_MAX:
        return None
    numbers = array[~np.isnan(array)]
    if not numbers.size:
        return None
    worst = numbers[np.abs(numbers).argmax()]
    return float(worst) if abs(worst) > HALF_MAX else None


def lost(array: np.ndarray) -> np.ndarray:
    """Return where elements are above 0 that fp16 rounds to 0 (ties go to even)."""
    return (array > 0) & (array <= HALF_TINY / 2)
