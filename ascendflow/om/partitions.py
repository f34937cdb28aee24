"""The tables behind the header, and the partitions that they name.

Source: GE om_file_helper.cc. Its loader goes by sizes alone; here offsets are held to fit
them, so that every byte is a header's, a table's, a partition's or zero padding.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.om.header import SIZE
from ascendflow.om.numbering import BUNDLE, FLOW, PARTITIONS, named
from ascendflow.wire import MalformedError

if TYPE_CHECKING:
    from ascendflow.documents.inspection import OmHeader
    from ascendflow.om.source import Source

MOST = 4096
"""Partitions of one table: the loader's own limit."""

_WIDE = (struct.Struct("<I4x"), struct.Struct("<I4xQQ"))
_TINY = (struct.Struct("<I"), struct.Struct("<III"))
_MOST_PADDING = 512
"""Bytes; GE aligns to 8 or 32, and only in files for small chips."""


class Partition(NamedTuple):
    """Where a partition lies in the file."""

    type: int
    start: int
    stop: int

    @property
    def name(self) -> str:
        """Return what GE calls its type."""
        return named(PARTITIONS, self.type)


class Table(NamedTuple):
    """One table and its partitions: one model.

    Attributes:
        start: where the table begins.
        size: its own bytes.
        partitions: in their order in the file.
        padding: zero bytes between and behind them.
    """

    start: int
    size: int
    partitions: tuple[Partition, ...]
    padding: int

    def find(self, kind: str) -> Partition | None:
        """Return the first partition of a type, by GE's name, or None."""
        return next((each for each in self.partitions if each.name == kind), None)


def read_tables(source: Source, header: OmHeader, start: int, stop: int) -> list[Table]:
    """Read all tables of the OM that lies from `start` to `stop`.

    Raises:
        MalformedError: they leave a byte unexplained, or reach beyond the end.
    """
    is_bundle = header["model_type_number"] == BUNDLE
    wide = header["wide"] or header["model_type_number"] == FLOW
    at, tables = start + SIZE, []
    # A bundle counts the models inside it, and has one table.
    for _ in range(1 if is_bundle else max(header["model_num"], 1)):
        # Offsets of a bundle count from its header's end, others from their table's.
        base = at if is_bundle else None
        table, at = _read_table(source, at, stop, wide=wide, base=base)
        tables.append(table)
    if at == stop:
        return tables
    behind = _padding(source, at, stop)
    last = tables[-1]
    return [*tables[:-1], last._replace(padding=last.padding + behind)]


def _read_table(
    source: Source, start: int, stop: int, *, wide: bool, base: int | None
) -> tuple[Table, int]:
    """Read one table; return it and where its last partition ends."""
    head, row = _WIDE if wide else _TINY
    (count,) = source.unpack(head, start, stop)
    if not 0 < count <= MOST:
        raise MalformedError(start, f"a table has {count} partitions, not 1 to {MOST}")
    end = start + head.size + count * row.size
    base = end if base is None else base
    at, padding, found = end, 0, []
    for index in range(count):
        place = start + head.size + index * row.size
        kind, offset, size = source.unpack(row, place, stop)
        begin = base + offset
        if begin < at:
            what = (
                f"partition {index} lies at byte {begin}, but the one before ends at {at}"
            )
            raise MalformedError(place, what)
        if begin + size > stop:
            what = f"partition {index} ends at byte {begin + size}, but the model at {stop}"
            raise MalformedError(place, what)
        padding += _padding(source, at, begin)
        at = begin + size
        source.charge(place, items=3)
        found.append(Partition(kind, begin, at))
    return Table(start, end - start, tuple(found), padding), at


def _padding(source: Source, start: int, stop: int) -> int:
    """Return how many bytes lie between, which must be few, and zeros."""
    length = stop - start
    if length > _MOST_PADDING or any(source.data[start:stop]):
        raise MalformedError(start, f"{length} bytes belong to no partition")
    return length
