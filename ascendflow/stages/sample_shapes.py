"""Which shapes samples may have where a model is built for more than one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Shape = Sequence[int | Sequence[int | None]]
    Shapes = Mapping[str, Shape]

HINT = (
    "gears are proven by samples, one of each at least: add such samples, or remove the "
    "gear from convert"
)


class SampleShapes:
    """Holds each sample to the shapes that the target is built for, and counts them.

    Attributes:
        admitted: each of all inputs; a size is a length or [least, greatest].
    """

    def __init__(self, admitted: Sequence[Shapes]) -> None:
        self.admitted = admitted
        self._seen = [0] * len(admitted)

    def problems(self, found: Mapping[str, Sequence[int]]) -> Iterator[str]:
        """Say that a sample's shapes are none of the admitted, or take note of which."""
        fitting = [
            number
            for number, shapes in enumerate(self.admitted)
            if all(_fits(found[name], shapes[name]) for name in found)
        ]
        for number in fitting:
            self._seen[number] += 1
        if not fitting:
            listed = "; or ".join(map(_spelled, self.admitted))
            yield f"has {_spelled(found)}; the target is built for {listed}"

    def unseen(self) -> list[str]:
        """Name the shapes that no sample has."""
        pairs = zip(self.admitted, self._seen, strict=True)
        return [_spelled(shapes) for shapes, seen in pairs if not seen]


def admits(found: Mapping[str, Sequence[int]], admitted: Sequence[Shapes]) -> bool:
    """Whether shapes of all inputs are among those that the target is built for."""
    return any(
        found.keys() == shapes.keys()
        and all(_fits(found[name], shapes[name]) for name in found)
        for shapes in admitted
    )


def _fits(found: Sequence[int], shape: Shape) -> bool:
    return len(found) == len(shape) and all(map(_fits_size, found, shape))


def _fits_size(found: int, size: int | Sequence[int | None]) -> bool:
    if isinstance(size, int):
        return found == size
    low, high = size
    return (low is None or low <= found) and (high is None or found <= high)


def _spelled(shapes: Shapes) -> str:
    return ", ".join(
        f"{name!r} [{', '.join(map(_size, shape))}]" for name, shape in shapes.items()
    )


def _size(size: Any) -> str:
    if isinstance(size, int):
        return str(size)
    low, high = size
    return f"{low}~{high}" if high is not None else f"{low} or more"
