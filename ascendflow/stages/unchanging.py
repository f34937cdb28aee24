"""Finds outputs that do not change with the input: whatever is compared, they pass."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    Tensors = Mapping[str, np.ndarray]


class Unchanging:
    """Collects what was fed and what came out; keeps digests, and one sample's tensors."""

    def __init__(self) -> None:
        self._feeds: set[str] = set()
        self._outputs: dict[str, set[str]] = {}
        self._first: tuple[Tensors, Tensors] | None = None

    def add(self, feeds: Tensors, outputs: Tensors) -> None:
        """Take note of one sample."""
        self._first = self._first or (feeds, outputs)
        self._feeds.add("".join(_digest(array) for array in feeds.values()))
        for name, array in outputs.items():
            self._outputs.setdefault(name, set()).add(_digest(array))

    def warnings(self, run: Callable[[Tensors], Tensors | None]) -> list[str]:
        """Name the outputs that are the same whatever was fed.

        Args:
            run: the model; None where it cannot take a feed. Where all samples are the
                same, it is run on another.
        """
        if len(self._feeds) > 1:
            return [
                f"output {name!r} does not depend on the input: it is the same for "
                f"{len(self._feeds)} different samples, so comparing it says nothing"
                for name, digests in self._outputs.items()
                if len(digests) == 1
            ]
        return [] if self._first is None else _unmoved(*self._first, run)


def _unmoved(
    feeds: Tensors, outputs: Tensors, run: Callable[[Tensors], Tensors | None]
) -> list[str]:
    """Name the floating outputs that stay when the only sample is altered.

    Classes and counts may well stay the same, so they are not judged.
    """
    other = {name: _altered(array) for name, array in feeds.items()}
    if all(_digest(other[name]) == _digest(array) for name, array in feeds.items()):
        return []
    if (moved := run(other)) is None:
        return []
    return [
        f"output {name!r} seems not to depend on the input: it stays the same when the "
        "only sample's elements are halved and reversed, so comparing it says nothing"
        for name, array in outputs.items()
        if array.dtype.kind not in "iub" and _digest(moved[name]) == _digest(array)
    ]


def _altered(array: np.ndarray) -> np.ndarray:
    """Return another tensor that is as likely to be in the range the model takes."""
    backwards = array.ravel()[::-1].reshape(array.shape)
    if array.dtype.kind in "iub":  # these may be indices
        return backwards
    halved: np.ndarray = (backwards * 0.5).astype(array.dtype)
    return halved


def _digest(array: np.ndarray) -> str:
    return sha256(array.tobytes()).hexdigest()
