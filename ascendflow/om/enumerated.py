"""Compressed attributes: names and texts of operators, kept once for the whole model.

A model with `om_compress_version` has a list of names, a list of texts, and one flag per
name. An attribute's key is then a zero byte and digits of base 127, the lowest first, each
one more than its value: an index into the names. Where that name's flag is set, integers
are indices into the texts.

A sub-model is compressed when its keys already are, so its names are indices into those of
the file's first model; both lists are then gone through. (Seen in GE's own test files.)

Source: GE enum_attr_utils.cc and model_compress_manager.cc.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.wire import LENGTH, NUMBER, Field, MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.om.source import Source

VERSION, NAMES, TEXTS, FLAGS = (
    "om_compress_version",
    "attr_name_enum",
    "attr_value_enum",
    "attrs_use_string_value",
)
_LIST, _TEXT, _BOOL = 1, 2, 5
"""Fields of AttrDef and of its list."""
_BASE = 127
_MOST_NAME = 1 << 12
_LONGEST = 6
"""Bytes of a key: 127**5 is more than the format counts (uint32)."""


class Texts(NamedTuple):
    """A list of texts where it lies: only where each begins is kept, four bytes apiece."""

    source: Source
    base: int
    stop: int
    starts: array[int]

    def find(self, index: int, at: int, what: str) -> tuple[int, int]:
        """Return where a text begins and ends.

        Raises:
            MalformedError: the list is shorter.
        """
        if not 0 <= index < len(self.starts):
            count = len(self.starts)
            raise MalformedError(at, f"{what} {index} is asked for, but there are {count}")
        field = next(self.source.walk(self.base + self.starts[index], self.stop))
        return field.content, field.stop


class Enumerated(NamedTuple):
    """The lists of one model."""

    names: Texts
    texts: Texts
    flags: bytes

    def name(self, key: bytes, at: int) -> tuple[bytes, bool]:
        """Return what a compressed key stands for, and whether its integers are texts.

        Raises:
            MalformedError: there is no such name, or it is longer than any.
        """
        if len(key) > _LONGEST or 0 in key[1:] or any(digit > _BASE for digit in key):
            raise MalformedError(at, f"the attribute name {key[:16]!r} is no index")
        index = sum((d - 1) * _BASE**power for power, d in enumerate(key[1:]))
        start, stop = self.names.find(index, at, "attribute name")
        if stop - start > _MOST_NAME:
            raise MalformedError(start, f"an attribute name has {stop - start} bytes")
        return self.names.source.data[start:stop], bool(self.flags[index])


def read_enumerated(source: Source, attributes: dict[str, Field]) -> Enumerated | None:
    """Read the lists from a model's attributes (name -> its AttrDef); None without them.

    Raises:
        MalformedError: one of them is missing, or there are not as many flags as names.
    """
    if VERSION not in attributes:
        return None
    for name in (NAMES, TEXTS, FLAGS):
        if name not in attributes:
            start = attributes[VERSION].start
            raise MalformedError(start, f"{VERSION} is given, but {name} is missing")
    names, texts = (_texts(source, attributes[name]) for name in (NAMES, TEXTS))
    flags = _flags(source, attributes[FLAGS])
    if len(flags) != len(names.starts):
        what = f"{len(names.starts)} attribute names have {len(flags)} flags"
        raise MalformedError(attributes[FLAGS].start, what)
    return Enumerated(names, texts, flags)


def _texts(source: Source, attribute: Field) -> Texts:
    starts = array("I")
    base = attribute.start
    for each in _of_list(source, attribute):
        if each.number == _TEXT and each.wire == LENGTH:
            starts.append(each.start - base)
    return Texts(source, base, attribute.stop, starts)


def _flags(source: Source, attribute: Field) -> bytes:
    """Read a list of bools, one byte each: packed, as protobuf writes them, or not."""
    found = bytearray()
    for each in _of_list(source, attribute):
        if each.number == _BOOL and each.wire == LENGTH:
            found += source.data[each.content : each.stop]
        elif each.number == _BOOL and each.wire == NUMBER:
            found.append(bool(each.value))
    if found.translate(None, b"\0\1"):
        raise MalformedError(attribute.start, f"{FLAGS} holds more than 0 and 1")
    return bytes(found)


def _of_list(source: Source, attribute: Field) -> Iterator[Field]:
    for outer in source.walk(attribute.content, attribute.stop):
        if outer.number == _LIST and outer.wire == LENGTH:
            yield from source.walk(outer.content, outer.stop)
