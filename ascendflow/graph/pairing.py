"""Two dumps of one model as pairs of tensors, by name, in bounded memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    Dump = Iterable[tuple[str, np.ndarray]]

PENDING_BYTES = 128 << 20
"""What may wait for its counterpart in memory, on each side; the rest waits in a file."""


class Paired(NamedTuple):
    """One tensor that both sides have."""

    tensor: str
    golden: np.ndarray
    target: np.ndarray


class Alone(NamedTuple):
    """One tensor that only one side has."""

    tensor: str
    in_golden: bool


def pair_by_name(
    golden: Dump, target: Dump, *, pending_bytes: int = PENDING_BYTES
) -> Iterator[Paired | Alone]:
    """Read both dumps in turn and yield each tensor as soon as its counterpart has come.

    The two may be in different orders, and either may lack what the other has; those
    tensors come last.

    Args:
        golden: name and array, each name once.
        target: the same of the other side.
        pending_bytes: how much may wait in memory, on each side.
    """
    with _Waiting(pending_bytes) as goldens, _Waiting(pending_bytes) as targets:
        for in_golden, name, array in _in_turn(golden, target):
            own, other = (goldens, targets) if in_golden else (targets, goldens)
            found = other.take(name)
            if found is None:
                own.put(name, array)
            else:
                yield (
                    Paired(name, array, found) if in_golden else Paired(name, found, array)
                )
        yield from (Alone(name, in_golden=True) for name in goldens.names)
        yield from (Alone(name, in_golden=False) for name in targets.names)


@dataclass(frozen=True)
class _Spilled:
    """Where a tensor lies in the temporary file."""

    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]


class _Waiting:
    """Tensors of one side that have not found their counterpart yet."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._held: dict[str, np.ndarray] = {}
        self._spilled: dict[str, _Spilled] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self._held, *self._spilled)

    def put(self, name: str, array: np.ndarray) -> None:
        if self._held_bytes + array.nbytes > self._limit_bytes:
            file = self._open()
            self._spilled[name] = _Spilled(file.seek(0, 2), array.dtype, array.shape)
            file.write(array.tobytes())
        else:
            self._held_bytes += array.nbytes
            self._held[name] = array

    def take(self, name: str) -> np.ndarray | None:
        if (spilled := self._spilled.pop(name, None)) is not None:
            return _read(self._open(), spilled)
        if (held := self._held.pop(name, None)) is not None:
            self._held_bytes -= held.nbytes
        return held

    def _open(self) -> IO[bytes]:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - closed by __exit__
        return self._file


def _read(file: IO[bytes], spilled: _Spilled) -> np.ndarray:
    import numpy as np

    file.seek(spilled.offset)
    content = file.read(math.prod(spilled.shape) * spilled.dtype.itemsize)
    return np.frombuffer(content, spilled.dtype).reshape(spilled.shape)


def _in_turn(golden: Dump, target: Dump) -> Iterator[tuple[bool, str, np.ndarray]]:
    """Alternate between the two, then finish the longer one."""
    sides = [(True, iter(golden)), (False, iter(target))]
    while sides:
        for side in tuple(sides):
            in_golden, tensors = side
            try:
                name, array = next(tensors)
            except StopIteration:
                sides.remove(side)
            else:
                yield in_golden, name, array
