"""Where our metrics are meant to differ from msaccucmp's: when, and what each gives.

`docs/metrics.md` tells the same list; the tests hold both to what the tool prints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.msaccucmp.formulas import ABSOLUTE, EPSILON, METRICS, RELATIVE, value

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Given = float | Callable[[str, Array, Array], float]

NAN, INF = float("nan"), float("inf")


def exact(metric: str, golden: Array, target: Array) -> float:
    return value(metric, golden, target, np.longdouble)


def single(metric: str, golden: Array, target: Array) -> float:
    return value(metric, golden, target, np.float32)


@dataclass(frozen=True)
class Difference:
    """One intended difference.

    Attributes:
        when: in words, as the page has it.
        of: the metrics, in words.
        said: what we give and what the tool gives, in words.
        metrics: the metrics.
        holds: whether a pair is such a one.
        ours: what we give: a number, or how it is computed.
        theirs: what the tool gives.
    """

    when: str
    of: str
    said: tuple[str, str]
    metrics: tuple[str, ...]
    holds: Callable[[Array, Array], Any]
    ours: Given
    theirs: Given

    @property
    def row(self) -> str:
        """The difference as a row of the page's table."""
        return f"| {self.when} | {self.of} | {self.said[0]} | {self.said[1]} |"


def _of_booleans(metric: str, golden: Array, _: Array) -> float:
    is_early = metric == "relative_euclidean_distance" and not golden.any()
    return 0.0 if is_early else NAN


def _sign(_: str, golden: Array, target: Array) -> float:
    signs = float(np.sign(golden).sum()), float(np.sign(target).sum())
    return 1.0 if signs == (0, 0) else signs[0] * signs[1] or NAN


def _is_all_zero(g: Array, t: Array) -> Any:
    return (np.abs(g) <= EPSILON).all() and (g != t).any()


def _has_no_length(g: Array, t: Array) -> Any:
    return np.linalg.norm(g.astype(float)) <= EPSILON and (g != t).any()


def _is_finite(g: Array, t: Array) -> Any:
    return np.isfinite(g).all() and np.isfinite(t).all()


def _has_no_nan(g: Array, t: Array) -> Any:
    return not (np.isnan(g).any() or np.isnan(t).any())


def _without_shared(metric: str, golden: Array, target: Array) -> float:
    shared = np.isinf(golden) & (golden == target)
    return exact(metric, np.where(shared, 0, golden), np.where(shared, 0, target))


def _is_rounded(g: Array, t: Array) -> bool:
    with np.errstate(over="ignore"):
        return any((each.astype(np.float32).astype(float) != each).any() for each in (g, t))


def _overflows(g: Array, t: Array) -> bool:
    """Whether a square, or a ratio, of numbers that float32 holds is beyond it."""
    with np.errstate(over="ignore"):
        single_g, single_t = g.astype(np.float32), t.astype(np.float32)
        squares = [(each**2).sum() for each in (single_g, single_t, single_t - single_g)]
    return not np.isfinite([*squares, single("max_relative_error", g, t)]).all()


DIFFERENCES = (
    Difference(
        "two tensors of booleans",
        "all but the cosine",
        ("metrics.json has `mismatch_rate` alone; the rest as of 0 and 1", "NaN"),
        tuple(name for name in METRICS if name != "cosine_similarity"),
        lambda g, t: g.dtype == t.dtype == bool,
        exact,
        _of_booleans,
    ),
    Difference(
        "empty tensors",
        "mean and largest errors, KL divergence",
        ("0, and a warning", "NaN"),
        (*ABSOLUTE, *RELATIVE[1:], "kl_divergence"),
        lambda g, _: not g.size,
        0.0,
        NAN,
    ),
    Difference(
        "one element",
        "cosine",
        ("1 or -1 by the signs; NaN if just one is 0", "1"),
        ("cosine_similarity",),
        lambda g, _: g.size == 1,
        _sign,
        1.0,
    ),
    Difference(
        "a golden of length 0, another target",
        "relative Euclidean distance",
        ("NaN", "0"),
        ("relative_euclidean_distance",),
        _has_no_length,
        NAN,
        0.0,
    ),
    Difference(
        "a golden that is 0 everywhere, another target",
        "relative errors",
        ("NaN", "0"),
        RELATIVE,
        _is_all_zero,
        NAN,
        0.0,
    ),
    Difference(
        "a NaN in the golden",
        "relative errors",
        ("NaN", "as if that element were right"),
        RELATIVE,
        lambda g, _: np.isnan(g).any(),
        NAN,
        single,
    ),
    Difference(
        "the same infinity at the same place of both",
        "all errors",
        ("no error there", "NaN"),
        ABSOLUTE + RELATIVE,
        lambda g, t: _has_no_nan(g, t) and (np.isinf(g) & (g == t)).any(),
        _without_shared,
        NAN,
    ),
    Difference(
        "an infinity in the golden, a number in the target",
        "relative errors",
        ("infinite", "1 there"),
        RELATIVE,
        lambda g, t: _has_no_nan(g, t) and (np.isinf(g) & np.isfinite(t)).any(),
        INF,
        single,
    ),
    Difference(
        "opposite infinities at the same place",
        "relative errors",
        ("infinite", "NaN"),
        RELATIVE,
        lambda g, t: (np.isinf(g) & (g == -t)).any(),
        INF,
        NAN,
    ),
    Difference(
        "an infinity in the target alone",
        "relative Euclidean distance",
        ("NaN", "infinite"),
        ("relative_euclidean_distance",),
        lambda g, t: np.isfinite(g).all() and np.isinf(t).any(),
        NAN,
        INF,
    ),
    Difference(
        "numbers that float32 does not hold",
        "all",
        ("of the numbers", "of what float32 makes of them"),
        METRICS,
        lambda g, t: _is_finite(g, t) and _is_rounded(g, t),
        exact,
        single,
    ),
    Difference(
        "squares or ratios beyond 3.4e38",
        "all",
        ("the value", "0, infinite or NaN"),
        METRICS,
        lambda g, t: g.size and _is_finite(g, t) and _overflows(g, t),
        exact,
        single,
    ),
    Difference(
        "a target near the golden",
        "accumulated relative error",
        ("the value", "off by up to 6e-8 an element: t/g - 1 loses digits"),
        ("accumulated_relative_error",),
        lambda g, t: g.size and _is_finite(g, t),
        exact,
        single,
    ),
)
"""In order: of a pair the first that holds counts."""
