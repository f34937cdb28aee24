"""The two passes over a pair of tensors, as running sums over blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ascendflow.metrics.divergence import PROBABILITY_FLOOR, without_noise
from ascendflow.metrics.extent import Extent
from ascendflow.metrics.pairs import EPSILON

if TYPE_CHECKING:
    from ascendflow.metrics.pairs import Floats


@dataclass
class Side:
    """Running sums of one of the two tensors, over its finite elements."""

    total: float = 0.0
    squares: float = 0.0
    nonfinite: int = 0
    extent: Extent = field(default_factory=Extent)

    def add(self, block: Floats, total: float) -> None:
        """Take a block, whose sum is `total`."""
        self.total += total
        self.squares += float(block @ block)
        self.extent = self.extent.union(Extent(float(block.min()), float(block.max())))


class FirstPass:
    """Differences, products and extents.

    Attributes:
        count: elements, finite or not.
        golden, target: sums of each.
        product: sum of golden times target.
        introduced, lost: elements that are NaN or infinite on one side, and not the
            same on the other; see `Measurement`.
        has_nan: either tensor holds a NaN.
        has_denominator: some golden element is large enough to divide by.
        largest_error, sum_error, sum_squared_error: of |target - golden|.
        largest_ratio, sum_ratio: of that over |golden|.
    """

    def __init__(self) -> None:
        self.count = self.introduced = self.lost = 0
        self.golden, self.target = Side(), Side()
        self.has_nan = self.has_denominator = False
        self.product = 0.0
        self.largest_error = self.sum_error = self.sum_squared_error = 0.0
        self.largest_ratio = self.sum_ratio = 0.0

    @property
    def all_finite(self) -> bool:
        """Whether neither tensor holds a NaN or an infinity."""
        return not (self.golden.nonfinite or self.target.nonfinite)

    def add(self, g: Floats, t: Floats) -> None:
        """Take one block of each; overwrites them."""
        self.count += g.size
        sums = float(g.sum()), float(t.sum())
        if not np.isfinite(sums).all():
            g, t = self._only_finite(g, t)
            sums = float(g.sum()), float(t.sum())
        if g.size:
            self.golden.add(g, sums[0])
            self.target.add(t, sums[1])
            self.product += float(g @ t)
            self._add_errors(g, t)

    def _only_finite(self, g: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Count what is not finite, and leave it out: the same on both is no error."""
        finite = np.isfinite(g), np.isfinite(t)
        nan = np.isnan(g), np.isnan(t)
        same = (g == t) | (nan[0] & nan[1])
        self.has_nan = self.has_nan or bool(nan[0].any() or nan[1].any())
        self.golden.nonfinite += int(np.count_nonzero(~finite[0]))
        self.target.nonfinite += int(np.count_nonzero(~finite[1]))
        self.introduced += int(np.count_nonzero(~finite[1] & ~same))
        self.lost += int(np.count_nonzero(~finite[0] & ~same))
        both = finite[0] & finite[1]
        return g[both], t[both]

    def _add_errors(self, g: Floats, t: Floats) -> None:
        error = np.subtract(t, g, out=t)
        self.sum_squared_error += float(error @ error)
        np.abs(error, out=error)
        self.largest_error = max(self.largest_error, float(error.max()))
        self.sum_error += float(error.sum())
        denominator = np.abs(g, out=g)
        too_small = denominator <= EPSILON
        if too_small.any():
            np.copyto(denominator, np.inf, where=too_small)  # error / inf counts as 0
        self.has_denominator = self.has_denominator or not too_small.all()
        ratio = np.divide(error, denominator, out=error)
        self.largest_ratio = max(self.largest_ratio, float(ratio.max()))
        self.sum_ratio += float(ratio.sum())


class SecondPass:
    """What can only be summed once each tensor's extent is known.

    For the divergence: with p' and q' floored but not yet divided by their sums P and Q,
    sum p ln(p/q) = (sum p' ln(p'/q')) / P + ln(Q / P), so that one pass is enough.
    """

    def __init__(self, golden: Extent, target: Extent) -> None:
        self._golden, self._target = golden, target
        self._sum_p = self._sum_q = self._sum_p_log = 0.0
        self.golden_squares = self.target_squares = 0.0

    def add(self, g: Floats, t: Floats) -> None:
        """Take one block of each; overwrites them."""
        q, golden_squares = _scaled(g, self._golden)
        p, target_squares = _scaled(t, self._target)
        self.golden_squares += golden_squares
        self.target_squares += target_squares
        self._sum_q += float(q.sum())
        self._sum_p += float(p.sum())
        ratio = np.divide(p, q, out=q)
        self._sum_p_log += float(p @ np.log(ratio, out=ratio))

    @property
    def divergence(self) -> float:
        """Kullback-Leibler divergence; 0 of nothing."""
        if not self._sum_p:
            return 0.0
        mean_log = self._sum_p_log / self._sum_p
        return without_noise(float(mean_log + np.log(self._sum_q / self._sum_p)))


def _scaled(block: Floats, extent: Extent) -> tuple[Floats, float]:
    """Min-max scale a block in place; return it floored, and its squares' sum before."""
    if not extent.width:
        block.fill(1.0)
        return block, 0.0
    np.subtract(block, extent.low, out=block)
    np.divide(block, extent.width, out=block)
    squares = float(block @ block)
    return np.maximum(block, PROBABILITY_FLOOR, out=block), squares
