"""All metrics of a pair of tensors, in at most two passes over them.

`similarity`, `error` and `divergence` say what each number is, one plain function each;
here the same numbers are taken block by block in one go, so that a feature map of any
size costs two small buffers. The tests hold both equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ascendflow.metrics.error import mismatch_rate
from ascendflow.metrics.extent import Extent
from ascendflow.metrics.pairs import EPSILON, blocks, kind_of
from ascendflow.metrics.passes import FirstPass, SecondPass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ascendflow.metrics.passes import Side

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
        golden_nonfinite: NaN and infinite elements of the golden.
        target_nonfinite: the same of the target.
        introduced_nonfinite: those of the target that the golden does not have there.
        lost_nonfinite: those of the golden that the target does not have there.
    """

    metrics: dict[str, float]
    statistics: dict[str, float] = field(default_factory=dict)
    extent: Extent = field(default_factory=Extent)
    golden_nonfinite: int = 0
    target_nonfinite: int = 0
    introduced_nonfinite: int = 0
    lost_nonfinite: int = 0


def compare_tensors(
    golden: NDArray[np.generic], target: NDArray[np.generic]
) -> dict[str, float]:
    """Return every metric of a pair; see `measure`."""
    return measure(golden, target).metrics


def measure(golden: NDArray[np.generic], target: NDArray[np.generic]) -> Measurement:
    """Measure a pair of tensors of the same shape and kind, in float64.

    Empty tensors are equal: cosine 1, errors 0. Whoever asks says so aloud.

    Args:
        golden: the trusted tensor; float (bfloat16 and float16 too), integer or bool.
        target: the tensor under test. Its width may differ (float16 against float32).

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
    first = FirstPass()
    with np.errstate(over="ignore", invalid="ignore"):
        for g, t in blocks(golden, target):
            first.add(g, t)
        second = SecondPass(first.golden.extent, first.target.extent)
        if first.all_finite:
            for g, t in blocks(golden, target):
                second.add(g, t)
        cosine = _cosine(first, golden, target)
    return _conclude(first, second, cosine)


def _conclude(first: FirstPass, second: SecondPass, cosine: float) -> Measurement:
    """Turn the sums into numbers; what is undefined becomes NaN, never 0."""
    finite = first.all_finite
    return Measurement(
        metrics={
            "cosine_similarity": cosine if finite else NAN,
            **_errors(first),
            "relative_euclidean_distance": _distance(first) if finite else NAN,
            "kl_divergence": second.divergence if finite else NAN,
        },
        statistics={
            **_statistics(
                "golden", first.golden, second.golden_squares, first.count, finite
            ),
            **_statistics(
                "target", first.target, second.target_squares, first.count, finite
            ),
        },
        extent=first.golden.extent,
        golden_nonfinite=first.golden.nonfinite,
        target_nonfinite=first.target.nonfinite,
        introduced_nonfinite=first.introduced,
        lost_nonfinite=first.lost,
    )


def _errors(first: FirstPass) -> dict[str, float]:
    """The metrics that are NaN only where a NaN is, and infinite with a lone infinity."""
    count = max(first.count, 1)
    absolute = {
        "max_absolute_error": first.largest_error,
        "mean_absolute_error": first.sum_error / count,
        "root_mean_square_error": math.sqrt(first.sum_squared_error / count),
        "range_relative_error": first.golden.extent.relative(first.largest_error),
    }
    undefined = not first.has_denominator and first.largest_error > 0
    relative = {
        "max_relative_error": NAN if undefined else first.largest_ratio,
        "mean_relative_error": NAN if undefined else first.sum_ratio / count,
        "accumulated_relative_error": NAN if undefined else first.sum_ratio,
    }
    if first.has_nan:
        return dict.fromkeys(absolute | relative, NAN)
    if first.introduced or first.lost:
        return dict.fromkeys(absolute | relative, math.inf)
    return absolute | relative


def _distance(first: FirstPass) -> float:
    if math.sqrt(first.golden.squares) <= EPSILON:
        return NAN if first.largest_error else 0.0
    return math.sqrt(first.sum_squared_error / first.golden.squares)


def _cosine(
    first: FirstPass, golden: NDArray[np.generic], target: NDArray[np.generic]
) -> float:
    largest = first.golden.extent.magnitude, first.target.extent.magnitude
    if largest == (0.0, 0.0):
        return 1.0
    if 0.0 in largest:
        return NAN
    sums = first.golden.squares, first.target.squares, first.product
    low, high = SAFE_SQUARES
    if not all(low < squares < high for squares in sums[:2]):
        sums = _scaled_sums(golden, target, largest)
    cosine = sums[2] / math.sqrt(sums[0]) / math.sqrt(sums[1])
    return min(max(cosine, -1.0), 1.0) if math.isfinite(cosine) else NAN


def _scaled_sums(
    golden: NDArray[np.generic], target: NDArray[np.generic], largest: tuple[float, float]
) -> tuple[float, float, float]:
    """Sums of squares and of products of extreme float64 values, each scaled to 1."""
    sums = np.zeros(3)
    for pair in blocks(golden, target):
        g, t = pair[0] / largest[0], pair[1] / largest[1]
        sums += g @ g, t @ t, g @ t
    return float(sums[0]), float(sums[1]), float(sums[2])


def _statistics(
    name: str, side: Side, scaled_squares: float, count: int, finite: bool
) -> dict[str, float]:
    """Mean and standard deviation; the latter from the min-max scaled squares.

    Straight from the sum of squares, 1000 +- 0.01 would lose ten digits.
    """
    mean = deviation = NAN
    if finite and count:
        mean = side.total / count
        width = side.extent.width
        centre = (mean - side.extent.low) / width if width else 0.0
        deviation = width * math.sqrt(max(scaled_squares / count - centre**2, 0.0))
    return {f"{name}_mean": mean, f"{name}_standard_deviation": deviation}
