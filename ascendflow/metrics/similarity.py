"""Do two tensors point the same way?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ascendflow.metrics.pairs import flat_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cosine_similarity(golden: NDArray[np.floating], target: NDArray[np.floating]) -> float:
    r"""Cosine of the angle between two tensors, seen as flat vectors.

    .. math:: \cos(g, t) = \frac{g \cdot t}{\lVert g \rVert \lVert t \rVert}

    Of single elements only the sign counts: 5 against -5 gives -1 (msaccucmp gives 1).

    Args:
        golden: the trusted tensor, any shape, any real dtype.
        target: the tensor under test; same shape as `golden`.

    Returns:
        A unitless number in [-1, 1]; 1 is identical direction. 1.0 when both are all
        zero or empty; NaN when exactly one is all zero, or when either holds a NaN or
        an infinity. A NaN never passes a gate.

    Raises:
        ValueError: the shapes differ.
    """
    g, t = flat_pair(golden, target)
    largest = np.abs(g).max(initial=0.0), np.abs(t).max(initial=0.0)
    if largest == (0.0, 0.0):
        return 1.0
    if 0.0 in largest or not np.isfinite(largest).all():
        return float("nan")
    g, t = (
        g / largest[0],
        t / largest[1],
    )  # squares of 1e-200 would vanish, of 1e200 overflow
    return float(np.clip(g @ t / np.sqrt((g @ g) * (t @ t)), -1.0, 1.0))
