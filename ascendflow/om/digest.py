"""Two digests of an OM: of its bytes, and of what is the same in every build of it.

The *normalised digest* is the sha256 of a row of digests, one for the header and one for
each partition. Two builds of one model with the same options on the same CANN should have
the same, wherever they were made. What it leaves out, and nothing else:

* `atc_cmdline`, the command line with its paths, and with it the two lengths in the header;
* where partitions lie: offsets and padding;
* the order of attributes, of a model, a graph, an operator and a description of a tensor;
* the order of kernels in TBE_KERNELS and CUST_AICPU_KERNELS, of libraries in SO_BINS and of
  attributes in TASK_INFO, which GE writes in no fixed order.

Of an OM inside the OM the same is left out. GE writes no time and no UUID, so there is none
to leave out. Versions of CANN, the SoC and the name of the output file stay in.

Source: GE model_helper.cc, kernel_store.cc, op_so_store.cc, task.proto.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

from ascendflow.om import submodels
from ascendflow.om.header import LENGTHS, SIZE, read_header
from ascendflow.om.model_def import (
    GRAPH,
    INPUT_DESC,
    MODEL_ATTR,
    OP,
    OP_ATTR,
    OUTPUT_DESC,
)
from ascendflow.om.partitions import Partition, read_tables
from ascendflow.wire import LENGTH, Field, MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ascendflow.om.source import Source

_COMMAND_LINE = b"\n\x0batc_cmdline"
"""How the entry of a model's attributes begins that is left out."""
_DESC_ATTR, _TASK_ATTR = 5, 9

_DESC: dict[int, Any] = {_DESC_ATTR: None}
_OP = {OP_ATTR: None, INPUT_DESC: _DESC, OUTPUT_DESC: _DESC}
_MODEL = {MODEL_ATTR: None, GRAPH: {MODEL_ATTR: None, OP: _OP}}
_TASKS = {_TASK_ATTR: None}
"""Numbers of fields: None is a map, of no order; a dict is a message of that form."""

_KERNEL, _LIBRARY = struct.Struct("<III"), struct.Struct("<IHHII")
_MAGIC = 0x5D776EFD
_COUNT = struct.Struct("<I")
_PARTS = 16
"""What a message of its own digest costs, in fields that are passed over."""
_INNER = struct.Struct(">I")
"""Its first byte is zero, as no field's is, so no field looks like a message's digest."""


def raw_digest(source: Source) -> str:
    """Return the sha256 of the file's bytes."""
    return source.sha256(0, source.size)


def normalised_digest(source: Source) -> str:
    """Return the digest that this module is about.

    Raises:
        MalformedError: the file is no whole OM.
    """
    return _om(source, 0, source.size).hex()


def _om(source: Source, start: int, stop: int, *, nested: bool = False) -> bytes:
    header = read_header(source, start, stop)
    head = bytearray(source.data[start : start + SIZE])
    for offset, size in LENGTHS:
        head[offset : offset + size] = bytes(size)
    total = hashlib.sha256(head)
    for table in read_tables(source, header, start, stop):
        total.update(_COUNT.pack(len(table.partitions)))
        for partition in table.partitions:
            total.update(_COUNT.pack(partition.type))
            total.update(_partition(source, partition, nested=nested))
    return total.digest()


def _partition(source: Source, partition: Partition, *, nested: bool) -> bytes:
    if partition.name == "MODEL_DEF":
        return _message(source, partition.start, partition.stop, _MODEL)
    if partition.name == submodels.BUNDLE_MODEL_INFO and not nested:
        return _om(source, partition.start, partition.stop, nested=True)
    try:
        found = _in_order(source, partition, nested=nested)
    except MalformedError:
        found = None  # of another form than is known
    return found or _raw(source, partition.start, partition.stop)


def _in_order(source: Source, partition: Partition, *, nested: bool) -> bytes | None:
    """Digest what GE writes in no fixed order; None for all other partitions."""
    match partition.name:
        case "TASK_INFO":
            return _message(source, partition.start, partition.stop, _TASKS)
        case submodels.FLOW_SUBMODEL if not nested:
            return _flow(source, partition)
        case "TBE_KERNELS" | "CUST_AICPU_KERNELS":
            return _sorted(source, _kernels(source, partition.start, partition.stop))
        case "SO_BINS":
            return _sorted(source, _libraries(source, partition))
    return None


def _raw(source: Source, start: int, stop: int) -> bytes:
    digest = hashlib.sha256()
    source.feed(digest, start, stop)
    return digest.digest()


def _sorted(source: Source, found: Iterator[bytes]) -> bytes:
    digests = []
    with source.lent():
        for each in found:
            source.charge(0)
            digests.append(each)
    return hashlib.sha256(b"".join(sorted(digests))).digest()


def _message(source: Source, start: int, stop: int, form: dict[int, Any]) -> bytes:
    """Digest a message: fields in their order, then the entries of its maps, sorted."""
    total = hashlib.sha256()
    source.count(start, _PARTS)

    def entries() -> Iterator[bytes]:
        for field in source.walk(start, stop):
            if field.wire != LENGTH or field.number not in form:
                source.feed(total, field.start, field.stop)
            elif (inner := form[field.number]) is not None:
                total.update(_INNER.pack(field.number))
                total.update(_message(source, field.content, field.stop, inner))
            elif form is not _MODEL or not _is_command_line(source, field):
                yield _raw(source, field.start, field.stop)

    in_order = _sorted(source, entries())
    total.update(in_order)
    return total.digest()


def _is_command_line(source: Source, entry: Field) -> bool:
    start = entry.content
    return source.data[start : start + len(_COMMAND_LINE)] == _COMMAND_LINE


def _flow(source: Source, partition: Partition) -> bytes:
    """Digest what tells of an OM, then the OM as one."""
    total = hashlib.sha256()
    place = next(submodels.in_flow(source, partition), None)
    for field in source.walk(partition.start, partition.stop):
        if place is not None and field.content == place.start:
            total.update(_INNER.pack(field.number))
            total.update(_om(source, place.start, place.stop, nested=True))
        else:
            source.feed(total, field.start, field.stop)
    return total.digest()


def _kernels(source: Source, start: int, stop: int) -> Iterator[bytes]:
    """Yield the digest of each kernel with its name."""
    at = start
    while at < stop:
        magic, name, size = source.unpack(_KERNEL, at, stop)
        end = at + _KERNEL.size + name + size
        if magic != _MAGIC or end > stop:
            raise MalformedError(at, "no kernel")
        yield _raw(source, at, end)
        at = end


def _libraries(source: Source, partition: Partition) -> Iterator[bytes]:
    (count,) = source.unpack(_COUNT, partition.start, partition.stop)
    yield _COUNT.pack(count)
    at = partition.start + _COUNT.size
    while at < partition.stop:
        magic, name, _, vendor, size = source.unpack(_LIBRARY, at, partition.stop)
        end = at + _LIBRARY.size + name + vendor + size
        if magic != _MAGIC or end > partition.stop:
            raise MalformedError(at, "no library")
        yield _raw(source, at, end)
        at = end
