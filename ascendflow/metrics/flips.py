"""Indices that came out otherwise: were the values to choose between nearly equal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ascendflow.documents.numbers import encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ascendflow.documents.metrics import FlippedPlaces

    Tensor = NDArray[np.generic]


def flipped_places(
    golden: tuple[Tensor, Tensor], target: tuple[Tensor, Tensor], *, axis: int
) -> FlippedPlaces:
    """Count the indices that differ, by how far apart the golden's two values are.

    Two values are a near tie where they are no farther apart than twice the largest error
    of the target's values along `axis`: so much can change which of them is the larger, and
    by Weyl's inequality which is the k-th largest.

    Args:
        golden: values, and the indices into them along `axis`; as many dimensions in both.
        target: the same of the target.
        axis: of the values.

    Raises:
        ValueError: the shapes differ.
    """
    (values, chosen), (others, instead) = golden, target
    if values.shape != others.shape or chosen.shape != instead.shape:
        raise ValueError("shapes differ between golden and target")
    g, t = values.astype(np.float64), others.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.max(np.abs(t - g), axis=axis, keepdims=True)
        gap = np.abs(_taken(g, chosen, axis) - _taken(g, instead, axis))
    differ = chosen != instead
    gaps, errors = gap[differ], np.broadcast_to(error, gap.shape)[differ]
    tied = gaps == 0
    near = ~tied & (gaps <= 2 * errors)
    return {
        "places": int(chosen.size),
        "differing": int(differ.sum()),
        "tied": int(tied.sum()),
        "near": int(near.sum()),
        "largest_gap": encode(float(gaps.max(initial=0.0))),
        "largest_error": encode(float(errors.max(initial=0.0))),
    }


def _taken(values: NDArray[np.float64], indices: Tensor, axis: int) -> NDArray[np.float64]:
    """Take values by their indices; NaN, which is near nothing, where an index is none."""
    size = values.shape[axis]
    whole = indices.astype(np.int64)
    whole = np.where(whole < 0, whole + size, whole)
    known = (whole >= 0) & (whole < size)
    taken = np.take_along_axis(values, np.where(known, whole, 0), axis)
    return np.where(known, taken, np.nan)
