"""Do two tensors distribute their values the same way?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ascendflow.metrics.pairs import EPSILON, flat_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ascendflow.metrics.pairs import Floats

PROBABILITY_FLOOR = float(np.finfo(np.float32).eps)
"""Scaled elements are floored at this, so that no logarithm is taken of 0."""


def kl_divergence(golden: NDArray[np.floating], target: NDArray[np.floating]) -> float:
    r"""Kullback-Leibler divergence of the target from the golden, as msaccucmp defines it.

    .. math:: \sum_i p_i \ln \frac{p_i}{q_i}

    where p (target) and q (golden) are each tensor min-max scaled to [0, 1], floored at
    float32's epsilon and divided by its sum. Blind to a tensor's offset and scale. A
    constant tensor is a uniform distribution.

    Args:
        golden: the trusted tensor, any shape, any real dtype.
        target: the tensor under test; same shape as `golden`.

    Returns:
        Nats, at least 0 but for rounding; a magnitude below 2.2e-16 is returned as 0.
        0 for empty tensors, NaN when either holds a NaN or an infinity. In float64:
        with float32 logarithms it was off by 5 % at 4e-7.

    Raises:
        ValueError: the shapes differ.
    """
    g, t = flat_pair(golden, target)
    if not (np.isfinite(g).all() and np.isfinite(t).all()):
        return float("nan")
    if not g.size:
        return 0.0
    p, q = _distribution(t), _distribution(g)
    return without_noise(float((p * np.log(p / q)).sum()))


def without_noise(divergence: float) -> float:
    """Return 0 for what is only rounding."""
    return 0.0 if abs(divergence) < EPSILON else divergence


def _distribution(values: Floats) -> Floats:
    width = values.max() - values.min()
    scaled = (values - values.min()) / width if width else np.ones_like(values)
    floored = np.maximum(scaled, PROBABILITY_FLOOR)
    return np.asarray(floored / floored.sum())
