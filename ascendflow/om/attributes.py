"""Attributes: protobuf's map from a name to an AttrDef, of a model, a graph, an operator.

Source: GE ge_ir.proto (AttrDef).
"""

from __future__ import annotations

import struct
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.documents.numbers import encode
from ascendflow.wire import (
    FOUR_BYTES,
    LENGTH,
    NUMBER,
    Field,
    MalformedError,
    signed,
    varint,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.inspection import AttributeItem, AttributeValue
    from ascendflow.om.enumerated import Enumerated
    from ascendflow.om.source import Source

MOST_ITEMS = 256
MOST_BYTES = 4096
"""A list of more items or bytes is not shown, but told by its size and digest."""

_LONGEST_NAME = 1 << 12
_FLOAT = struct.Struct("<f")
_SCALARS = {3: "int", 4: "float", 5: "bool", 15: "data type"}
_TEXTS = (2, 17)
_OPAQUE = {7: "bytes", 10: "named attributes", 11: "tensor", 12: "tensor", 13: "graph",
           14: "list of lists", 16: "list of lists"}  # fmt: skip
_LIST, _VALUE_TYPE = 1, 20
_ITEMS = {2: "text", 3: "int", 4: "float", 5: "bool", 12: "data type"}


class Names(NamedTuple):
    """How attributes of one model are named: through its lists, then the first model's."""

    source: Source
    lists: tuple[Enumerated, ...]

    def read(self, entry: Field) -> tuple[bytes, Field, Enumerated | None]:
        """Read a map's entry.

        Returns:
            The attribute's name, the field that holds its AttrDef (empty where there is
            none), and the lists whose texts its integers mean, or None.
        """
        key, value = self.raw(entry)
        texts = None
        for each in self.lists:
            if key[:1] != b"\0":
                break
            key, is_text = each.name(key, entry.start)
            texts = each if is_text else texts
        if key[:1] == b"\0":
            raise MalformedError(entry.start, f"no list has the attribute name {key!r}")
        return key, value, texts

    def raw(self, entry: Field) -> tuple[bytes, Field]:
        """Read a map's entry as it stands there: its key, and its AttrDef."""
        key, value = b"", Field(2, LENGTH, entry.stop, entry.stop, entry.stop, 0)
        for each in self.source.walk(entry.content, entry.stop):
            if each.number == 1 and each.wire == LENGTH:
                if each.stop - each.content > _LONGEST_NAME:
                    length = each.stop - each.content
                    raise MalformedError(each.start, f"a name has {length} bytes")
                key = self.source.data[each.content : each.stop]
            elif each.number == 2 and each.wire == LENGTH:
                value = each
        return key, value


def read_value(
    source: Source,
    attribute: Field,
    texts: Enumerated | None = None,
    *,
    whole: bool = False,
) -> AttributeValue:
    """Read an AttrDef's value; None if it has none.

    Args:
        source: the file.
        attribute: the field that holds the AttrDef.
        texts: the lists whose texts integers mean; None if they are integers.
        whole: lists are read however long they are.
    """
    value: AttributeValue = None
    for each in source.walk(attribute.content, attribute.stop):
        if each.number == _LIST and each.wire == LENGTH:
            value = _list(source, each, texts, whole=whole)
        elif each.number in _TEXTS and each.wire == LENGTH:
            value = source.text(each.content, each.stop)
        elif each.number in _OPAQUE and each.wire == LENGTH:
            value = _withheld(source, each, _OPAQUE[each.number], None)
        elif each.number in _SCALARS and each.wire in (NUMBER, FOUR_BYTES):
            value = _scalar(source, each, _SCALARS[each.number], texts)
    return value


def _scalar(
    source: Source, field: Field, kind: str, texts: Enumerated | None
) -> AttributeItem:
    if kind == "float":
        if field.wire != FOUR_BYTES:
            raise MalformedError(field.start, f"a float has the wire type {field.wire}")
        return encode(*_FLOAT.unpack_from(source.data, field.content))
    if field.wire != NUMBER:
        raise MalformedError(field.start, f"a number has the wire type {field.wire}")
    return _number(source, field.value, field.start, kind, texts)


def _number(
    source: Source, value: int, at: int, kind: str, texts: Enumerated | None
) -> AttributeItem:
    if kind == "bool":
        return bool(value)
    if texts is not None and kind == "int":
        return source.text(*texts.texts.find(signed(value), at, "attribute text"))
    return signed(value)


def _list(
    source: Source, field: Field, texts: Enumerated | None, *, whole: bool
) -> AttributeValue:
    if not whole and field.stop - field.content > MOST_BYTES:
        return _withheld(source, field, "list", _count(source, field))
    found: list[AttributeItem] = []
    for each in source.walk(field.content, field.stop):
        if each.number == _VALUE_TYPE:
            continue
        if each.number not in _ITEMS:
            return _withheld(source, field, "list", _count(source, field))
        room = None if whole else MOST_ITEMS + 1 - len(found)
        found += islice(_items(source, each, _ITEMS[each.number], texts), room)
        if not whole and len(found) > MOST_ITEMS:
            return _withheld(source, field, "list", _count(source, field))
    return found


def _items(
    source: Source, field: Field, kind: str, texts: Enumerated | None
) -> Iterator[AttributeItem]:
    """Yield what one field of a list adds: one item, or all where they are packed."""
    if kind == "text":
        if field.wire != LENGTH:
            raise MalformedError(field.start, f"a text has the wire type {field.wire}")
        yield source.text(field.content, field.stop)
    elif field.wire != LENGTH:
        source.charge(field.start)
        yield _scalar(source, field, kind, texts)
    elif kind == "float":
        for at in range(field.content, field.stop, _FLOAT.size):
            source.charge(at)
            yield encode(*source.unpack(_FLOAT, at, field.stop))
    else:
        at = field.content
        while at < field.stop:
            source.charge(at)
            value, after = varint(source.data, at, field.stop)
            yield _number(source, value, at, kind, texts)
            at = after


def _count(source: Source, field: Field) -> int:
    """Count the items of a list; those of packed numbers by their last bytes."""
    count = 0
    for each in source.walk(field.content, field.stop):
        kind = _ITEMS.get(each.number)
        if each.number == _VALUE_TYPE:
            continue
        if each.wire != LENGTH or kind in (None, "text"):
            count += 1
        elif kind == "float":
            count += (each.stop - each.content) // _FLOAT.size
        else:
            packed = source.data[each.content : each.stop]
            count += len(packed) - len(packed.translate(None, _LAST_BYTES))
    return count


_LAST_BYTES = bytes(range(128))


def _withheld(source: Source, field: Field, kind: str, count: int | None) -> AttributeValue:
    source.charge(field.start)
    return {
        "type": kind,
        "count": count,
        "size": field.stop - field.content,
        "sha256": source.sha256(field.content, field.stop),
    }
