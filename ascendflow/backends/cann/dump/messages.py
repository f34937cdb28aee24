"""Messages of a dump's header, walked over with an eye on what they cost.

Two bytes of a file can stand for a whole tensor, and a million of them for a minute: no
file makes us keep much more than it holds, or work for long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.wire import LENGTH, NUMBER, MalformedError, signed, varint, walk

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

    from ascendflow.wire import Field

MOST_FIELDS = 1 << 20
"""Of a header: a thousand times what an operator has, a few seconds."""
MOST_DIMENSIONS = 32
_ALLOWANCE, _TIMES, _PER_TENSOR = 1 << 20, 8, 512
"""Bytes that tensors may take here: so many, and so many times the file."""


class Messages:
    """The messages of one file."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._fields = MOST_FIELDS
        self._left = _ALLOWANCE + _TIMES * len(data)

    def fields(self, start: int, stop: int) -> Iterator[Field]:
        """Yield the fields of the message between two bytes.

        Raises:
            MalformedError: it is no message, or the header has more fields than any.
        """
        for field in walk(self._data, start, stop):
            self._count(field)
            yield field

    def inside(self, field: Field) -> Iterator[Field]:
        """Yield the fields of the message that is a field's content."""
        _require(field, LENGTH)
        return self.fields(field.content, field.stop)

    def number(self, field: Field) -> int:
        """Return a field's content, an unsigned number."""
        _require(field, NUMBER)
        return field.value

    def text(self, field: Field) -> str:
        """Return a field's content, a text."""
        _require(field, LENGTH)
        try:
            return self._data[field.content : field.stop].decode()
        except UnicodeDecodeError as error:
            raise MalformedError(field.content, "a text is not UTF-8") from error

    def dimensions(self, field: Field) -> tuple[int, ...]:
        """Return the shape that is a field's content: {dim 1}, packed or not."""
        found: list[int] = []
        for part in self.inside(field):
            if part.number == 1:
                found += self._packed(part) if part.wire == LENGTH else [self.number(part)]
                if len(found) > MOST_DIMENSIONS:
                    what = f"a shape has more than {MOST_DIMENSIONS} dimensions"
                    raise MalformedError(part.start, what)
        if negative := [size for size in map(signed, found) if size < 0]:
            raise MalformedError(field.start, f"a shape has the dimension {negative[0]}")
        return tuple(found)

    def keep_tensor(self, field: Field) -> None:
        """Count a tensor that is kept.

        Raises:
            MalformedError: no operator has so many.
        """
        self._left -= _PER_TENSOR
        if self._left < 0:
            what = f"more tensors than {len(self._data)} bytes can hold"
            raise MalformedError(field.start, what)

    def _packed(self, field: Field) -> list[int]:
        found: list[int] = []
        at = field.content
        while at < field.stop and len(found) <= MOST_DIMENSIONS:
            value, at = varint(self._data, at, field.stop)
            found.append(value)
        return found

    def _count(self, field: Field) -> None:
        self._fields -= 1
        if self._fields < 0:
            raise MalformedError(field.start, f"more than {MOST_FIELDS} fields")


def _require(field: Field, wire: int) -> None:
    if field.wire != wire:
        what = f"field {field.number} has the wire type {field.wire}, not {wire}"
        raise MalformedError(field.start, what)
