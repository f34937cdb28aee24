"""Everything that is summed over a pair of tensors, block by block, in one pass."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ascendflow.metrics.divergence import PROBABILITY_FLOOR, without_noise
from ascendflow.metrics.pairs import BLOCK, EPSILON
from ascendflow.vocabulary import HALF_NORMAL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ascendflow.metrics.extent import Extent
    from ascendflow.metrics.pairs import Floats
    from ascendflow.metrics.survey import Survey


HALF_STEP = 2.0**-24
"""Distance of float16's numbers below HALF_NORMAL, from each to the next."""

_LARGEST = ("largest_error", "largest_ratio", "has_denominator")
"""Fields of `Sums` that are no sums."""


@dataclass
class Sums:
    """Sums over elements, in float64; `add` joins those of two blocks.

    For the divergence: with p' and q' floored but not yet divided by their sums P and Q,
    sum p ln(p/q) = (sum p' ln(p'/q')) / P + ln(Q / P), so that one pass is enough.

    Attributes:
        golden_total, target_total: of the elements.
        golden_squares, target_squares, product: of the squares, and of golden times target.
        errors, squared_errors, largest_error: of |target - golden|.
        ratios, largest_ratio: of that over |golden|.
        has_denominator: some golden element is large enough to divide by.
        golden_scaled, target_scaled: of the squares once min-max scaled.
        tiny, zeroed: elements of the golden that are not 0 and below HALF_NORMAL, and how
            many of them are 0 in the target.
        tiny_rounding: of the squared errors that rounding those to float16 makes.
        q, p, p_log: of golden and target once min-max scaled and floored, and of p ln(p/q).
    """

    golden_total: float = 0.0
    target_total: float = 0.0
    golden_squares: float = 0.0
    target_squares: float = 0.0
    product: float = 0.0
    errors: float = 0.0
    squared_errors: float = 0.0
    largest_error: float = 0.0
    ratios: float = 0.0
    largest_ratio: float = 0.0
    has_denominator: bool = False
    golden_scaled: float = 0.0
    target_scaled: float = 0.0
    tiny: int = 0
    zeroed: int = 0
    tiny_rounding: float = 0.0
    q: float = 0.0
    p: float = 0.0
    p_log: float = 0.0

    def add(self, other: Sums) -> None:
        """Take the sums of another block; the order of blocks decides the last digit."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            setattr(self, name, max(mine, value) if name in _LARGEST else mine + value)

    @property
    def divergence(self) -> float:
        """Kullback-Leibler divergence; 0 of nothing."""
        if not self.p:
            return 0.0
        return without_noise(float(self.p_log / self.p + np.log(self.q / self.p)))


class _Buffers(threading.local):
    """Four blocks for each thread, kept: new memory costs more than the arithmetic."""

    def __init__(self) -> None:
        self.blocks = np.empty((4, BLOCK))


_buffers = _Buffers()


def summing(
    golden: NDArray[np.generic],
    target: NDArray[np.generic],
    sides: Sequence[Survey] | None,
) -> Callable[[int], Sums]:
    """Return a function from the start of a block to its sums; threads may share it.

    Args:
        golden: flat.
        target: flat, of the same size.
        sides: what is known of both, where all elements are finite. With None, elements
            that are not finite on both sides are left out, and nothing is min-max scaled.
    """

    def sums_from(start: int) -> Sums:
        size = min(BLOCK, golden.size - start)
        g, t, one, two = (block[:size] for block in _buffers.blocks)
        with np.errstate(over="ignore", invalid="ignore"):
            np.copyto(g, golden[start : start + size], casting="unsafe")
            np.copyto(t, target[start : start + size], casting="unsafe")
            if sides is None:
                both = np.isfinite(g) & np.isfinite(t)
                g, t = g[both], t[both]
                one, two = one[: g.size], two[: g.size]
            sums = Sums()
            if g.size:
                _add_products(sums, g, t)
                _add_errors(sums, g, t, one, two)
            if sides is not None:
                _add_scaled(sums, g, t, sides)
            return sums

    return sums_from


def _add_products(sums: Sums, g: Floats, t: Floats) -> None:
    sums.golden_total, sums.target_total = float(g.sum()), float(t.sum())
    sums.golden_squares, sums.target_squares = float(g @ g), float(t @ t)
    sums.product = float(g @ t)


def _add_errors(sums: Sums, g: Floats, t: Floats, one: Floats, two: Floats) -> None:
    """Take the differences, and their ratios where the golden is large enough."""
    error = np.subtract(t, g, out=one)
    sums.squared_errors = float(error @ error)
    np.abs(error, out=error)
    sums.errors, sums.largest_error = float(error.sum()), float(error.max())
    denominator = np.abs(g, out=two)
    # By index: to take elements by a mask in no order costs as much as all the rest.
    tiny = np.flatnonzero((denominator < HALF_NORMAL) & (denominator > 0))
    if tiny.size:
        _add_tiny(sums, g[tiny], t[tiny])
    countable = denominator > EPSILON
    sums.has_denominator = bool(countable.any())
    if not countable.all():
        # Without a branch for each element, which zeros in no order make slow:
        # 0 / EPSILON is 0.
        np.multiply(error, countable, out=error)
        np.maximum(denominator, EPSILON, out=denominator)
    ratio = np.divide(error, denominator, out=error)
    sums.ratios, sums.largest_ratio = float(ratio.sum()), float(ratio.max())


def _add_tiny(sums: Sums, g: Floats, t: Floats) -> None:
    """Take elements that float16 rounds coarsely, or to 0."""
    sums.tiny = g.size
    sums.zeroed = int(np.count_nonzero(t == 0))
    rounding = np.rint(g / HALF_STEP) * HALF_STEP - g
    sums.tiny_rounding = float(rounding @ rounding)


def _add_scaled(sums: Sums, g: Floats, t: Floats, sides: Sequence[Survey]) -> None:
    """Take both as distributions; overwrites them."""
    sums.golden_scaled, sums.q = _scale(g, sides[0].extent)
    sums.target_scaled, sums.p = _scale(t, sides[1].extent)
    ratio = np.divide(t, g, out=g)
    sums.p_log = float(t @ np.log(ratio, out=ratio))


def _scale(block: Floats, extent: Extent) -> tuple[float, float]:
    """Min-max scale in place; return the squares' sum, and the sum once floored."""
    if extent.width:
        np.subtract(block, extent.low, out=block)
        np.divide(block, extent.width, out=block)
    else:
        block.fill(1.0)
    squares = float(block @ block)
    return squares, float(np.maximum(block, PROBABILITY_FLOOR, out=block).sum())
