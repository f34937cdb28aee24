"""The metrics by their definition, in any width of float.

In float32 they give what msaccucmp gives, in long double what there is to give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

EPSILON = float(np.finfo(np.float64).eps)
RELATIVE = ("accumulated_relative_error", "max_relative_error", "mean_relative_error")
ABSOLUTE = ("max_absolute_error", "mean_absolute_error", "root_mean_square_error")


def value(metric: str, golden: Array, target: Array, width: type) -> float:
    """Compute one metric of two arrays in floats of `width`."""
    with np.errstate(all="ignore"):
        g: Array = golden.astype(width).ravel()
        t: Array = target.astype(width).ravel()
        return float(_FORMULAS[metric](g, t)) if g.size else float("nan")


def _cosine(g: Array, t: Array) -> Any:
    lengths = [np.sqrt((each * each).sum()) for each in (g, t)]
    tiny = EPSILON if g.dtype == np.float32 else 0.0
    if max(lengths) <= tiny:
        return 1.0
    if min(lengths) ** 0.5 <= tiny:
        return np.nan
    return min((t / lengths[1] * (g / lengths[0])).sum(), 1.0)  # keeps a NaN


def _distance(g: Array, t: Array) -> Any:
    squares = (g * g).sum()
    if squares**0.5 <= EPSILON:
        return 0.0
    return (((t - g) ** 2).sum() / squares) ** 0.5


def _distribution(values: Array) -> Array:
    width = values.max() - values.min()
    scaled = (values - values.min()) / width if width != 0 else values
    floored = np.maximum(scaled, np.finfo(np.float32).eps)
    return np.asarray(floored / floored.sum())


def _divergence(g: Array, t: Array) -> Any:
    p, q = _distribution(t), _distribution(g)
    return (p * np.log(p / q)).sum()


def _relative(g: Array, t: Array) -> Array:
    return np.where(np.abs(g) > EPSILON, np.abs(t / g - 1), 0)


_FORMULAS: dict[str, Any] = {
    "cosine_similarity": _cosine,
    "max_absolute_error": lambda g, t: np.abs(t - g).max(),
    "mean_absolute_error": lambda g, t: np.abs(t - g).mean(),
    "root_mean_square_error": lambda g, t: np.sqrt(((t - g) ** 2).mean()),
    "relative_euclidean_distance": _distance,
    "kl_divergence": _divergence,
    "accumulated_relative_error": lambda g, t: _relative(g, t).sum(),
    "max_relative_error": lambda g, t: _relative(g, t).max(),
    "mean_relative_error": lambda g, t: _relative(g, t).mean(),
}
METRICS = tuple(_FORMULAS)
