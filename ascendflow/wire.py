"""protobuf's wire format: where the fields of a message lie, whatever they hold.

protobuf itself has no way to skip a field, and needs a compiled schema. A message is a row
of fields: a key (number and wire type), then a number, or a length and that many bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

NUMBER, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5
"""Wire types."""

_FIXED = {EIGHT_BYTES: 8, FOUR_BYTES: 4}
_BITS = 64


class MalformedError(ValueError):
    """Bytes are not what they should be.

    Attributes:
        offset: where, counted from the file's first byte.
        what: what is wrong there, with both values.
    """

    def __init__(self, offset: int, what: str) -> None:
        super().__init__(f"{what}, at byte {offset}")
        self.offset = offset
        self.what = what


class Field(NamedTuple):
    """One field: its number and wire type, and where key and content begin and both end.

    `value` is the number of wire type NUMBER, unsigned; else 0.
    """

    number: int
    wire: int
    start: int
    content: int
    stop: int
    value: int


def walk(data: mmap.mmap | bytes, start: int, stop: int) -> Iterator[Field]:
    """Yield the fields of the message that lies in `data` from `start` to `stop`.

    Raises:
        MalformedError: it is no message, or is cut short.
    """
    at = start
    while at < stop:
        begin = at
        key, at = varint(data, at, stop)
        number, wire, content, value = key >> 3, key & 7, at, 0
        if number == 0:
            raise MalformedError(begin, "a field has the number 0")
        if wire == NUMBER:
            value, at = varint(data, at, stop)
        elif wire == LENGTH:
            length, content = varint(data, at, stop)
            at = content + length
        elif wire in _FIXED:
            at += _FIXED[wire]
        else:
            raise MalformedError(begin, f"a field has the wire type {wire}")
        if at > stop:
            what = (
                f"a field of {at - content} bytes is cut short: {stop - content} are left"
            )
            raise MalformedError(begin, what)
        yield Field(number, wire, begin, content, at, value)


def varint(data: mmap.mmap | bytes, at: int, stop: int) -> tuple[int, int]:
    """Return a number, seven bits a byte, the lowest first, and where it ends.

    Raises:
        MalformedError: it does not end.
    """
    start, value, shift = at, 0, 0
    while at < stop and shift < _BITS:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value & (1 << _BITS) - 1, at
        shift += 7
    raise MalformedError(start, "a number is cut short")


def signed(value: int) -> int:
    """Read a number of wire type NUMBER as int64, which is its two's complement."""
    return value - (1 << _BITS) if value >> (_BITS - 1) else value
