"""The range of a golden tensor: what an error is compared with to be free of scale."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Extent:
    """Smallest and largest finite element; (inf, -inf) when there is none."""

    low: float = float("inf")
    high: float = float("-inf")

    @classmethod
    def of(cls, tensor: NDArray[np.generic]) -> Self:
        """Take the extent of one tensor; NaN and infinities do not count."""
        values = tensor.astype(np.float64)
        values = values[np.isfinite(values)]
        return cls(float(values.min()), float(values.max())) if values.size else cls()

    def union(self, other: Extent) -> Extent:
        """Return the extent of both tensors together."""
        return Extent(min(self.low, other.low), max(self.high, other.high))

    @property
    def width(self) -> float:
        """Range (max - min); 0 when there is no finite element."""
        return max(self.high - self.low, 0.0)

    @property
    def magnitude(self) -> float:
        """Largest absolute value; 0 when there is no finite element."""
        return max(self.high, -self.low, 0.0)

    @property
    def scale(self) -> float:
        """What errors are divided by: the range; if 0, max |x|; if 0, one.

        A range beyond float64 would make every error 0: max |x| takes its place.
        """
        width = self.width if isfinite(self.width) else 0.0
        return width or self.magnitude or 1.0

    def relative(self, error: float) -> float:
        """Return an absolute error over the scale; NaN stays NaN, infinity infinite."""
        return error / self.scale
