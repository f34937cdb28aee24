"""How far apart are two tensors, element by element?

Formulas: msaccucmp's, in float64 (it computes in float32 and prints six digits). What is
the same for all of them: an infinity that both hold in the same place is no error there;
one that only one of them holds makes the error infinite; a NaN in either makes it NaN;
of empty tensors the error is 0. Shapes that differ raise ValueError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ascendflow.metrics.extent import Extent
from ascendflow.metrics.pairs import BLOCK, EPSILON, flat_pair, require_equal_shapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ascendflow.metrics.pairs import Floats

    Tensor = NDArray[np.generic]


def max_absolute_error(golden: Tensor, target: Tensor) -> float:
    r"""Largest difference, in the tensor's unit: :math:`\max |t - g|`."""
    return float(_difference(*flat_pair(golden, target)).max(initial=0.0))


def mean_absolute_error(golden: Tensor, target: Tensor) -> float:
    r"""Mean difference, in the tensor's unit: :math:`\frac{1}{n} \sum |t - g|`."""
    return _mean(_difference(*flat_pair(golden, target)))


def root_mean_square_error(golden: Tensor, target: Tensor) -> float:
    r"""Root of the mean squared difference: :math:`\sqrt{\frac{1}{n} \sum (t - g)^2}`.

    In the tensor's unit, so a limit for it only means something for one scale.
    """
    return float(np.sqrt(_mean(_difference(*flat_pair(golden, target)) ** 2)))


def max_relative_error(golden: Tensor, target: Tensor) -> float:
    r"""Largest relative difference: :math:`\max |t - g| / |g|`, unitless.

    Elements with :math:`|g| \le 2.2 \cdot 10^{-16}` count as 0. NaN where that holds for
    every element of `golden`, and the tensors differ.
    """
    return float(_relative(*flat_pair(golden, target)).max(initial=0.0))


def mean_relative_error(golden: Tensor, target: Tensor) -> float:
    r"""Mean relative difference: :math:`\frac{1}{n} \sum |t - g| / |g|`, unitless.

    Elements with :math:`|g| \le 2.2 \cdot 10^{-16}` count as 0, but stay in :math:`n`.
    NaN where that holds for every element of `golden`, and the tensors differ.
    """
    return _mean(_relative(*flat_pair(golden, target)))


def accumulated_relative_error(golden: Tensor, target: Tensor) -> float:
    r"""Sum of relative differences: :math:`\sum |t / g - 1|`, unitless, grows with size.

    Elements with :math:`|g| \le 2.2 \cdot 10^{-16}` are left out. NaN where that leaves
    none, and the tensors differ. Computed as :math:`|t - g| / |g|`, which is the same
    number without the cancellation.
    """
    return float(_relative(*flat_pair(golden, target)).sum())


def relative_euclidean_distance(golden: Tensor, target: Tensor) -> float:
    r"""Length of the difference over the golden's: :math:`\sqrt{\sum (t-g)^2 / \sum g^2}`.

    Unitless; with the root, as msaccucmp and msprobe have it (other tools leave it out).
    NaN when either tensor holds a NaN or an infinity, or when the golden's length is at
    most 2.2e-16 and the tensors differ; 0 when they do not (msaccucmp: 0 in both cases).
    """
    g, t = flat_pair(golden, target)
    if not (np.isfinite(g).all() and np.isfinite(t).all()):
        return float("nan")
    length = float(np.linalg.norm(g))
    if length <= EPSILON:
        return float("nan") if (g != t).any() else 0.0
    return float(np.linalg.norm(t - g)) / length


def range_relative_error(golden: Tensor, target: Tensor) -> float:
    r"""Largest difference over the golden's range: :math:`\max|t-g| / (\max g - \min g)`.

    Unitless. The range is that of the finite elements; if it is 0, :math:`\max |g|`
    takes its place; if that is 0 too, the result is the absolute error itself. In
    metrics.json the range is that of all samples together.
    """
    return Extent.of(golden).relative(max_absolute_error(golden, target))


def floored_max_relative_error(golden: Tensor, target: Tensor, *, scale: float) -> float:
    r"""Largest relative difference with a floor: :math:`\max |t-g| / \max(|g|, 10^{-6} s)`.

    Unlike `max_relative_error` it sees a target that is off where the golden is 0. Used
    to judge outputs of so few elements that their cosine says nothing.

    Args:
        golden: the trusted tensor.
        target: the tensor under test; same shape as `golden`.
        scale: the golden's range over all samples (`Extent.scale`), above 0.
    """
    g, t = flat_pair(golden, target)
    error = _difference(g, t)
    with np.errstate(invalid="ignore"):
        ratio = error / np.maximum(np.abs(g), FLOOR * scale)
    ratio[error == 0] = 0.0
    ratio[np.isinf(error)] = np.inf
    return float(ratio.max(initial=0.0))


FLOOR = 1e-6
"""Of the range: below it, a golden's magnitude is not a fair denominator."""


def mismatch_rate(golden: NDArray[np.generic], target: NDArray[np.generic]) -> float:
    """Share of elements that differ, in [0, 1]; for integers and booleans. 0 if empty."""
    require_equal_shapes(golden, target)
    g, t = golden.reshape(-1), target.reshape(-1)
    starts = range(0, g.size, BLOCK)
    differ = (g[i : i + BLOCK] != t[i : i + BLOCK] for i in starts)
    return sum(int(np.count_nonzero(block)) for block in differ) / max(g.size, 1)


def _difference(g: Floats, t: Floats) -> Floats:
    """|t - g|; 0 where both hold the same infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(g == t, 0.0, np.abs(t - g))


def _relative(g: Floats, t: Floats) -> Floats:
    """|t - g| / |g|, 0 where |g| is too small; NaN everywhere if it always is."""
    error = _difference(g, t)
    countable = np.isfinite(g) & (np.abs(g) > EPSILON)
    if not countable.any() and error.any() and np.isfinite(error).all():
        return np.full_like(error, np.nan)
    with np.errstate(invalid="ignore"):
        ratio = np.divide(error, np.abs(g), out=np.zeros_like(g), where=countable)
    return np.where(np.isfinite(error), ratio, error)  # not inf / inf


def _mean(values: Floats) -> float:
    return float(values.sum()) / max(values.size, 1)
