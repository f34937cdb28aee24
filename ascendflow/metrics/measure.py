"""All metrics of a pair of tensors: a survey of both, then one pass over them.

`similarity`, `error` and `divergence` say what each number is, one plain function each;
here the same numbers are taken block by block in one go, so that a feature map of any
size costs a few small buffers. The tests hold both equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ascendflow.documents.numbers import encode
from ascendflow.metrics.error import mismatch_rate
from ascendflow.metrics.extent import Extent
from ascendflow.metrics.pairs import BLOCK, EPSILON, blocks, kind_of, require_equal_shapes
from ascendflow.metrics.sums import Sums, summing
from ascendflow.metrics.survey import Nonfinite, joined, surveying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from ascendflow.documents.metrics import Underflow
    from ascendflow.metrics.survey import Survey

    Tensor = NDArray[np.generic]
    Each = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]

NAN = float("nan")

SAFE_SQUARES = (1e-280, 1e280)
"""Sums of squares outside have lost digits to underflow, or are infinite."""


@dataclass(frozen=True)
class Measurement:
    """What was measured on one pair.

    Attributes:
        metrics: metric name -> value; of floats all but `mismatch_rate`, of integers and
            booleans `mismatch_rate` alone. `range_relative_error` is over this pair's
            own range.
        statistics: mean and standard deviation (of the population) of both. Empty for
            integers and booleans; NaN of empty tensors, and with a NaN or an infinity.
        extent: smallest and largest finite element of the golden.
        target_extent: those of the target.
        golden_nonfinite: NaN and infinite elements of the golden.
        target_nonfinite: the same of the target.
        introduced_nonfinite: those of the target that the golden does not have there.
        lost_nonfinite: those of the golden that the target does not have there.
        underflow: what float16 would do to small elements; None where there are none.
    """

    metrics: dict[str, float]
    statistics: dict[str, float] = field(default_factory=dict)
    extent: Extent = field(default_factory=Extent)
    target_extent: Extent = field(default_factory=Extent)
    golden_nonfinite: int = 0
    target_nonfinite: int = 0
    introduced_nonfinite: int = 0
    lost_nonfinite: int = 0
    underflow: Underflow | None = None


def measure(golden: Tensor, target: Tensor, *, each: Each = map) -> Measurement:
    """Measure a pair of tensors of the same shape and kind, in float64.

    Empty tensors are equal: cosine 1, errors 0. Whoever asks says so aloud.

    Args:
        golden: the trusted tensor; float (bfloat16 and float16 too), integer or bool.
        target: the tensor under test. Its width may differ (float16 against float32).
        each: applies a function to the start of each block and gives the results in that
            order: `map`, or an executor's, which takes as many threads as it has. The
            numbers are the same to the last bit.

    Raises:
        ValueError: the shapes differ, one is a float and the other not, or they are no
            numbers.
    """
    kind = kind_of(golden.dtype)
    if kind is None or kind_of(target.dtype) != kind:
        raise ValueError(
            f"cannot be compared: golden is {golden.dtype.name}, target {target.dtype.name}"
        )
    if kind == "discrete":
        return Measurement({"mismatch_rate": mismatch_rate(golden, target)})
    require_equal_shapes(golden, target)
    return _measure(golden.reshape(-1), target.reshape(-1), each)


def _measure(golden: Tensor, target: Tensor, each: Each) -> Measurement:
    """Measure two flat tensors; what is undefined becomes NaN, never 0."""
    starts = range(0, golden.size, BLOCK)
    each = each if len(starts) > 1 else map
    surveys = list(each(surveying(golden, target), starts))
    sides = [joined(pair[index] for pair in surveys) for index in range(2)]
    finite = not any(side.nonfinite for side in sides)
    nonfinite = Nonfinite() if finite else Nonfinite.of(golden, target)
    sums = Sums()
    for block in each(summing(golden, target, sides if finite else None), starts):
        sums.add(block)
    extent, known = sides[0].extent, golden.size if finite else 0
    return Measurement(
        metrics={
            "cosine_similarity": _cosine(sums, golden, target, sides) if finite else NAN,
            **_errors(sums, golden.size, extent, nonfinite),
            "relative_euclidean_distance": _distance(sums) if finite else NAN,
            "kl_divergence": sums.divergence if finite else NAN,
        },
        statistics=_statistics(sums, sides, known),
        extent=extent,
        target_extent=sides[1].extent,
        golden_nonfinite=sides[0].nonfinite,
        target_nonfinite=sides[1].nonfinite,
        introduced_nonfinite=nonfinite.introduced,
        lost_nonfinite=nonfinite.lost,
        underflow=_underflow(sums, golden.size),
    )


def _errors(
    sums: Sums, size: int, extent: Extent, nonfinite: Nonfinite
) -> dict[str, float]:
    """The metrics that are NaN only where a NaN is, and infinite with a lone infinity."""
    count = max(size, 1)
    absolute = {
        "max_absolute_error": sums.largest_error,
        "mean_absolute_error": sums.errors / count,
        "root_mean_square_error": math.sqrt(sums.squared_errors / count),
        "range_relative_error": extent.relative(sums.largest_error),
    }
    undefined = not sums.has_denominator and sums.largest_error > 0
    relative = {
        "max_relative_error": NAN if undefined else sums.largest_ratio,
        "mean_relative_error": NAN if undefined else sums.ratios / count,
        "accumulated_relative_error": NAN if undefined else sums.ratios,
    }
    if nonfinite.has_nan:
        return dict.fromkeys(absolute | relative, NAN)
    if nonfinite.introduced or nonfinite.lost:
        return dict.fromkeys(absolute | relative, math.inf)
    return absolute | relative


def _underflow(sums: Sums, size: int) -> Underflow | None:
    if not sums.tiny:
        return None
    error = sums.squared_errors
    share = sums.tiny_rounding / error if error else math.nan
    return {
        "tiny": sums.tiny,
        "zeroed": sums.zeroed,
        "elements": size,
        "explained": encode(share),
    }


def _distance(sums: Sums) -> float:
    if math.sqrt(sums.golden_squares) <= EPSILON:
        return NAN if sums.largest_error else 0.0
    return math.sqrt(sums.squared_errors / sums.golden_squares)


def _cosine(sums: Sums, golden: Tensor, target: Tensor, sides: list[Survey]) -> float:
    largest = sides[0].extent.magnitude, sides[1].extent.magnitude
    if largest == (0.0, 0.0):
        return 1.0
    if 0.0 in largest:
        return NAN
    squares, product = (sums.golden_squares, sums.target_squares), sums.product
    low, high = SAFE_SQUARES
    if not all(low < side < high for side in squares):
        squares, product = _scaled_sums(golden, target, largest)
    cosine = product / math.sqrt(squares[0]) / math.sqrt(squares[1])
    return min(max(cosine, -1.0), 1.0) if math.isfinite(cosine) else NAN


def _scaled_sums(
    golden: Tensor, target: Tensor, largest: tuple[float, float]
) -> tuple[tuple[float, float], float]:
    """Sums of squares and of products of extreme float64 values, each scaled to 1."""
    sums = np.zeros(3)
    for pair in blocks(golden, target):
        g, t = pair[0] / largest[0], pair[1] / largest[1]
        sums += g @ g, t @ t, g @ t
    return (float(sums[0]), float(sums[1])), float(sums[2])


def _statistics(sums: Sums, sides: list[Survey], count: int) -> dict[str, float]:
    golden, target = (side.extent for side in sides)
    return {
        **_spread("golden", sums.golden_total, sums.golden_scaled, golden, count),
        **_spread("target", sums.target_total, sums.target_scaled, target, count),
    }


def _spread(
    name: str, total: float, scaled: float, extent: Extent, count: int
) -> dict[str, float]:
    """Mean and standard deviation; the latter from the min-max scaled squares.

    Straight from the sum of squares, 1000 +- 0.01 would lose ten digits.
    """
    mean = deviation = NAN
    if count:
        mean, width = total / count, extent.width
        centre = (mean - extent.low) / width if width else 0.0
        deviation = width * math.sqrt(max(scaled / count - centre**2, 0.0))
    return {f"{name}_mean": mean, f"{name}_standard_deviation": deviation}
