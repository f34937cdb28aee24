"""MODEL_INOUT_INFO: inputs, outputs and gears, in a row of (type, length, value).

Not every OM has it. Source: GE model_introduction.cc, model_parser_base.cc and
ge_model_inout_types.h.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.documents.sizes import bytes_of
from ascendflow.om.numbering import ACL_DTYPES, FORMATS, named
from ascendflow.wire import MalformedError

if TYPE_CHECKING:
    from ascendflow.documents.inspection import InspectedTensor, OmGears
    from ascendflow.om.partitions import Partition
    from ascendflow.om.source import Source

INPUTS, OUTPUTS, BATCH, IMAGE, DIMS, _OUTPUT_SHAPES, ORDER = range(7)
TENSOR_ITEMS = 8
"""Values that a described tensor has."""
_HEAD = struct.Struct("<II")
_COUNT = struct.Struct("<I")
_LONG = struct.Struct("<q")
_TENSOR = struct.Struct("<Qii4I")
"""Size, layout, element type; bytes of name, shape, shape behind AIPP, ranges."""


class InOutInfo(NamedTuple):
    """What the partition says."""

    inputs: list[InspectedTensor]
    outputs: list[InspectedTensor]
    gears: OmGears | None


class _Reader:
    """Reads one value after the other, none of them beyond `stop`."""

    def __init__(self, source: Source, at: int, stop: int) -> None:
        self.source, self.at, self.stop = source, at, stop

    def take(self, layout: struct.Struct) -> tuple[int, ...]:
        found = self.source.unpack(layout, self.at, self.stop)
        self.source.charge(self.at)
        self.at += layout.size
        return found

    def count(self) -> int:
        return self.take(_COUNT)[0]

    def text(self, length: int) -> str:
        self.require(length)
        start, self.at = self.at, self.at + length
        return self.source.text(start, self.at)

    def longs(self, count: int) -> list[int]:
        self.require(count * _LONG.size)
        return [self.take(_LONG)[0] for _ in range(count)]

    def require(self, length: int) -> None:
        if self.at + length > self.stop:
            what = f"{length} bytes are expected, {self.stop - self.at} are left"
            raise MalformedError(self.at, what)


def read_inout_info(source: Source, partition: Partition) -> InOutInfo:
    """Read the partition.

    Raises:
        MalformedError: a value has more or fewer bytes than it says.
    """
    tensors: dict[int, list[InspectedTensor]] = {INPUTS: [], OUTPUTS: []}
    gears: dict[int, list[list[int]]] = {}
    order: list[str] = []
    at = partition.start
    while at < partition.stop:
        kind, length = source.unpack(_HEAD, at, partition.stop)
        source.charge(at)
        start, at = at + _HEAD.size, at + _HEAD.size + length
        if at > partition.stop:
            what = f"{length} bytes are expected, {partition.stop - start} are left"
            raise MalformedError(start, what)
        reader = _Reader(source, start, at)
        if kind in (INPUTS, OUTPUTS):
            tensors[kind] = [_tensor(reader) for _ in range(reader.count())]
        elif kind == BATCH:
            gears[kind] = [reader.longs(1) for _ in range(reader.count())]
        elif kind in (IMAGE, DIMS):
            gears[kind] = [reader.longs(n) for n in _counts(reader)]
        elif kind == ORDER:
            order = [reader.text(n) for n in _counts(reader)]
        else:
            continue
        if reader.at != at:
            raise MalformedError(reader.at, f"{at - reader.at} bytes are left over")
    return InOutInfo(tensors[INPUTS], tensors[OUTPUTS], _gears(gears, order))


def _counts(reader: _Reader) -> list[int]:
    return [reader.count() for _ in range(reader.count())]


def _tensor(reader: _Reader) -> InspectedTensor:
    reader.source.charge(reader.at, items=TENSOR_ITEMS)
    size, layout, dtype, *lengths = reader.take(_TENSOR)
    name = reader.text(lengths[0])
    shape, behind, ranges = (_row(reader, length) for length in lengths[1:])
    return {
        "name": name,
        "dtype": named(ACL_DTYPES, dtype),
        "shape": list(shape),
        "format": named(FORMATS, layout),
        "size": size or bytes_of(named(ACL_DTYPES, dtype), shape),
        "ranges": [ranges[i : i + 2] for i in range(0, len(ranges), 2)],
        "aipp_shape": behind if behind != shape else None,
    }


def _row(reader: _Reader, length: int) -> list[int]:
    if length % _LONG.size:
        raise MalformedError(reader.at, f"{length} bytes are no row of 8-byte numbers")
    return reader.longs(length // _LONG.size)


def _gears(found: dict[int, list[list[int]]], order: list[str]) -> OmGears | None:
    if values := found.get(BATCH):
        return {"kind": "batch", "values": values, "order": order}
    if values := found.get(IMAGE):
        return {"kind": "image", "values": values, "order": order}
    if values := found.get(DIMS):
        return {"kind": "dims", "values": values, "order": order}
    return None
