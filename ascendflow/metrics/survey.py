"""What has to be known of two tensors before anything is summed over them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ascendflow.metrics.extent import Extent
from ascendflow.metrics.pairs import BLOCK, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Flat = NDArray[np.generic]


class Survey(NamedTuple):
    """Of one tensor, or of a block of it.

    Attributes:
        extent: smallest and largest finite element.
        nonfinite: how many elements are NaN or infinite.
    """

    extent: Extent
    nonfinite: int


@dataclass
class Nonfinite:
    """Where two tensors are not finite together.

    Attributes:
        introduced: elements of the target that are NaN or infinite, and not the same in
            the golden.
        lost: those of the golden, and not the same in the target.
        has_nan: either holds a NaN.
    """

    introduced: int = 0
    lost: int = 0
    has_nan: bool = False

    @classmethod
    def of(cls, golden: Flat, target: Flat) -> Self:
        """Take both, of the same size."""
        found = cls()
        for g, t in blocks(golden, target):
            nan = np.isnan(g), np.isnan(t)
            same = (g == t) | (nan[0] & nan[1])
            found.introduced += int(np.count_nonzero(~np.isfinite(t) & ~same))
            found.lost += int(np.count_nonzero(~np.isfinite(g) & ~same))
            found.has_nan = found.has_nan or bool(nan[0].any() or nan[1].any())
        return found


def surveying(golden: Flat, target: Flat) -> Callable[[int], tuple[Survey, Survey]]:
    """Return a function from a block's start to both surveys; threads may share it."""

    def surveys_from(start: int) -> tuple[Survey, Survey]:
        stop = start + BLOCK
        return _survey(golden[start:stop]), _survey(target[start:stop])

    return surveys_from


def _survey(block: Flat) -> Survey:
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float64)  # numpy has slow loops only for the others
    with np.errstate(invalid="ignore"):
        low, high = float(block.min()), float(block.max())
    if isfinite(low) and isfinite(high):
        return Survey(Extent(low, high), 0)
    return Survey(Extent.of(block), int(np.count_nonzero(~np.isfinite(block))))


def joined(surveys: Iterable[Survey]) -> Survey:
    """Return the survey of all blocks together."""
    extent, nonfinite = Extent(), 0
    for survey in surveys:
        extent = extent.union(survey.extent)
        nonfinite += survey.nonfinite
    return Survey(extent, nonfinite)
