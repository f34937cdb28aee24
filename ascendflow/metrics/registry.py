"""METRICS: every metric's name, direction, unit, formula and plain definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Literal


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        direction: which way is better.
        unit: "1" (unitless), "nat", or "tensor" (the tensor's own unit, so that a limit
            depends on scale).
        formula: in plain text; g is the golden, t the target, n the number of elements.
        definition: "module:function" below `ascendflow.metrics`, which takes golden and
            target. Text, so that who only ranks numbers does without numpy.
    """

    direction: Literal["higher", "lower"]
    unit: str
    formula: str
    definition: str


METRICS: dict[str, Metric] = {
    "cosine_similarity": Metric(
        "higher", "1", "sum(g t) / sqrt(sum(g^2) sum(t^2))", "similarity:cosine_similarity"
    ),
    "max_absolute_error": Metric(
        "lower", "tensor", "max |t - g|", "error:max_absolute_error"
    ),
    "accumulated_relative_error": Metric(
        "lower",
        "1",
        "sum |t/g - 1| where |g| > 2.2e-16",
        "error:accumulated_relative_error",
    ),
    "relative_euclidean_distance": Metric(
        "lower", "1", "sqrt(sum (t-g)^2 / sum g^2)", "error:relative_euclidean_distance"
    ),
    "kl_divergence": Metric(
        "lower",
        "nat",
        "sum p ln(p/q); p of t, q of g: min-max scaled, floored at 1.19e-7, sum 1",
        "divergence:kl_divergence",
    ),
    "mean_absolute_error": Metric(
        "lower", "tensor", "sum |t - g| / n", "error:mean_absolute_error"
    ),
    "root_mean_square_error": Metric(
        "lower", "tensor", "sqrt(sum (t-g)^2 / n)", "error:root_mean_square_error"
    ),
    "max_relative_error": Metric(
        "lower",
        "1",
        "max |t-g| / |g|, 0 where |g| <= 2.2e-16",
        "error:max_relative_error",
    ),
    "mean_relative_error": Metric(
        "lower",
        "1",
        "sum |t-g| / |g| / n, 0 where |g| <= 2.2e-16",
        "error:mean_relative_error",
    ),
    "range_relative_error": Metric(
        "lower",
        "1",
        "max |t-g| / (max g - min g), the range over all samples",
        "error:range_relative_error",
    ),
    "mismatch_rate": Metric("lower", "1", "count(t != g) / n", "error:mismatch_rate"),
}
