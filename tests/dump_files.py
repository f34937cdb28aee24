"""Writes dump files, by the public definition alone: nothing here is ascendflow's.

protobuf's messages are made from descriptors in code, with the field numbers of CANN's
dump_data.proto, so that what reads them is held against protobuf's own writer.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from collections.abc import Sequence

_SCALARS = {"string": 9, "bytes": 12, "int32": 5, "uint32": 13, "uint64": 4}
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "OriginalOp": {
        "name": (1, "string"),
        "output_index": (2, "uint32"),
        "data_type": (3, "uint32"),
        "format": (4, "uint32"),
    },
    "Shape": {"dim": (1, "*uint64")},
    "DimRange": {"dim_start": (1, "uint64"), "dim_end": (2, "uint64")},
    "OpOutput": {
        "data_type": (1, "uint32"),
        "format": (2, "uint32"),
        "shape": (3, "Shape"),
        "original_op": (4, "OriginalOp"),
        "data": (5, "bytes"),
        "size": (6, "uint64"),
        "original_shape": (7, "Shape"),
        "sub_format": (8, "int32"),
        "address": (9, "uint64"),
        "dim_range": (10, "*DimRange"),
        "arg_index": (11, "uint32"),
    },
    "OpInput": {
        "data_type": (1, "uint32"),
        "format": (2, "uint32"),
        "shape": (3, "Shape"),
        "data": (4, "bytes"),
        "size": (5, "uint64"),
        "original_shape": (6, "Shape"),
        "sub_format": (7, "int32"),
        "address": (8, "uint64"),
        "offset": (9, "uint64"),
    },
    "OpBuffer": {"buffer_type": (1, "uint32"), "data": (2, "bytes"), "size": (3, "uint64")},
    "OpAttr": {"name": (1, "string"), "value": (2, "string")},
    "Workspace": {"type": (1, "uint32"), "data": (2, "bytes"), "size": (3, "uint64")},
    "DumpData": {
        "version": (1, "string"),
        "dump_time": (2, "uint64"),
        "output": (3, "*OpOutput"),
        "input": (4, "*OpInput"),
        "buffer": (5, "*OpBuffer"),
        "op_name": (6, "string"),
        "attr": (7, "*OpAttr"),
        "space": (8, "*Workspace"),
        "dfx_message": (9, "string"),
    },
}


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="dump.proto", package="d")
    file.syntax = "proto3"
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            plain, many = kind.lstrip("*"), 3 if "*" in kind else 1
            added = message.field.add(name=field, number=number, label=many)
            if plain in _SCALARS:
                added.type = _SCALARS[plain]
            else:
                added.type, added.type_name = 11, f".d.{plain}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"d.{name}"))
        for name in _MESSAGES
    }


MESSAGE = _classes()

Part = tuple[bytes, dict[str, Any]]
"""A tensor: its bytes, and its description without `size`."""


def tensor(
    data: bytes, dtype: int, layout: int, shape: Sequence[int], origin: Sequence[int] = ()
) -> Part:
    """Describe a tensor by protobuf's numbers."""
    told: dict[str, Any] = {"data_type": dtype, "format": layout, "shape": {"dim": shape}}
    return data, told | {"original_shape": {"dim": origin}}


def header(parts: dict[str, Sequence[Part]], **told: Any) -> Any:
    """Make the header alone; `parts` has the lists of DumpData by their names."""
    described = {
        name: [told | {"size": len(data)} for data, told in row]
        for name, row in parts.items()
    }
    return MESSAGE["DumpData"](**described, **told)


def dump(
    inputs: Sequence[Part] = (),
    outputs: Sequence[Part] = (),
    buffers: Sequence[Part] = (),
    spaces: Sequence[Part] = (),
    **told: Any,
) -> bytes:
    """Return a whole file."""
    parts = {"input": inputs, "output": outputs, "buffer": buffers, "space": spaces}
    made = header(parts, **{"version": "2.0", **told}).SerializeToString()
    data = b"".join(data for row in parts.values() for data, _ in row)
    return struct.pack("<Q", len(made)) + bytes(made) + data
