"""Outputs that are sets: items in no order that counts, as many as the data has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[np.generic]


def in_order_of(golden: Tensor, target: Tensor, axis: int) -> Tensor:
    """Return the target with its items at the places of the golden's.

    Equal items come first, then each item that is left to the nearest one that is left. As
    each of the target's is used once, numbers that pass afterwards are those of two equal
    sets; another pairing may give smaller ones, so nothing passes that should not.

    Args:
        golden: a tensor.
        target: one of the same shape and kind.
        axis: along which the items lie.
    """
    if np.array_equal(golden, target):
        return target
    ours, theirs = (_items(tensor, axis) for tensor in (golden, target))
    taken = _equal(ours, theirs)
    left = sorted(set(range(len(theirs))) - set(taken.values()))
    for place in range(len(ours)):
        if place not in taken:
            nearest = int(np.argmin(_distances(ours[place], theirs[left])))
            taken[place] = left.pop(nearest)
    order = [taken[place] for place in range(len(ours))]
    return np.take(target, order, axis=axis)


def _items(tensor: Tensor, axis: int) -> Tensor:
    """Lay each item out as a row."""
    first = np.moveaxis(tensor, axis, 0)
    return first.reshape(len(first), -1)


def _equal(ours: Tensor, theirs: Tensor) -> dict[int, int]:
    """Pair rows of the same values: place among ours -> place among theirs."""
    places: dict[tuple[object, ...], list[int]] = {}
    for place in reversed(range(len(theirs))):
        places.setdefault(tuple(theirs[place].tolist()), []).append(place)
    found = {}
    for place, item in enumerate(ours.tolist()):
        if same := places.get(tuple(item)):
            found[place] = same.pop()
    return found


def _distances(item: Tensor, others: Tensor) -> NDArray[np.float64]:
    """Return how far an item is from each of the others; NaN is as far as can be."""
    with np.errstate(invalid="ignore"):  # of two infinities
        apart = np.abs(others.astype(np.float64) - item.astype(np.float64))
    farthest: NDArray[np.float64] = np.nan_to_num(apart, nan=np.inf).max(axis=1, initial=0)
    return farthest
