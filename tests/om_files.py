"""Writes OM files, by the public layout alone: nothing here is ascendflow's.

protobuf's messages are made from descriptors in code, with the field numbers of GE's
ge_ir.proto, so that what reads them is held against protobuf's own writer.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MODEL_DEF, WEIGHTS, TASKS, KERNELS, SO_BINS = 0, 1, 2, 3, 5
FLOW_MODEL, FLOW_SUBMODEL, INOUT_INFO, BUNDLE, BUNDLE_VAR = 6, 7, 8, 24, 25

Part = tuple[int, bytes]
"""(type, content) of a partition."""

_SCALARS = {"string": 9, "bytes": 12, "int64": 3, "uint32": 13, "bool": 8, "float": 2}
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "ListValue": {
        "s": (2, "*bytes"),
        "i": (3, "*int64"),
        "f": (4, "*float"),
        "b": (5, "*bool"),
        "bt": (7, "*bytes"),
        "td": (8, "*TensorDescriptor"),
        "dt": (12, "*int64"),
        "val_type": (20, "int64"),
    },
    "AttrDef": {
        "list": (1, "ListValue"),
        "s": (2, "bytes"),
        "i": (3, "int64"),
        "f": (4, "float"),
        "b": (5, "bool"),
        "bt": (7, "bytes"),
        "td": (11, "TensorDescriptor"),
    },
    "Entry": {"key": (1, "bytes"), "value": (2, "AttrDef")},
    "ShapeDef": {"dim": (1, "*int64")},
    "TensorDescriptor": {
        "name": (1, "string"),
        "dtype": (2, "int64"),
        "shape": (3, "ShapeDef"),
        "layout": (4, "string"),
        "attr": (5, "*Entry"),
        "size": (10, "int64"),
    },
    "OpDef": {
        "name": (1, "string"),
        "type": (2, "string"),
        "input": (5, "*string"),
        "attr": (10, "*Entry"),
        "id": (21, "int64"),
        "src_name": (24, "*string"),
        "src_index": (25, "*int64"),
        "input_desc": (33, "*TensorDescriptor"),
        "output_desc": (34, "*TensorDescriptor"),
        "subgraph_name": (35, "*string"),
    },
    "GraphDef": {
        "name": (1, "string"),
        "input": (4, "*string"),
        "op": (6, "*OpDef"),
        "attr": (11, "*Entry"),
    },
    "ModelDef": {
        "name": (1, "string"),
        "version": (2, "uint32"),
        "custom_version": (3, "string"),
        "graph": (7, "*GraphDef"),
        "attr": (11, "*Entry"),
    },
    "SubmodelDef": {
        "model_name": (1, "string"),
        "model_type": (2, "string"),
        "om_data": (3, "bytes"),
    },
    "ModelTaskDef": {
        "version": (1, "string"),
        "attr": (9, "*Entry"),
        "task": (10, "*bytes"),
    },
}


def _classes() -> dict[str, Any]:
    # A map is a repeated entry on the wire; written so, its order is the test's to choose.
    file = descriptor_pb2.FileDescriptorProto(name="om.proto", package="t", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            plain = kind.lstrip("*")
            added = message.field.add(
                name=field, number=number, label=1 + 2 * ("*" in kind)
            )
            if plain in _SCALARS:
                added.type = _SCALARS[plain]
            else:
                added.type, added.type_name = 11, f".t.{plain}"
        if name == "AttrDef":
            message.oneof_decl.add(name="value")
            for added in message.field:
                added.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"t.{name}"))
        for name in _MESSAGES
    }


MESSAGE = _classes()


def attr(value: Any) -> Any:
    """Make an AttrDef of a value, by its Python type."""
    if isinstance(value, list):
        kinds: dict[type, str] = {bool: "b", int: "i", float: "f", str: "s", bytes: "bt"}
        found = MESSAGE["ListValue"]()
        for each in value:
            item = each.encode() if isinstance(each, str) else each
            getattr(found, kinds[type(each)]).append(item)
        return MESSAGE["AttrDef"](list=found)
    kind = {bool: "b", int: "i", float: "f", str: "s", bytes: "bt"}.get(type(value), "td")
    return MESSAGE["AttrDef"](**{kind: value.encode() if kind == "s" else value})


def attrs(values: Mapping[Any, Any]) -> list[Any]:
    """Make the entries of a map of attributes, in their order."""
    return [
        MESSAGE["Entry"](key=k.encode() if isinstance(k, str) else k, value=attr(v))
        for k, v in values.items()
    ]


def desc(dtype: int, shape: Sequence[int], layout: str = "ND", **more: Any) -> Any:
    """Describe a tensor; `dtype` by protobuf's numbers."""
    return MESSAGE["TensorDescriptor"](
        dtype=dtype, shape={"dim": list(shape)}, layout=layout, **more
    )


def op(name: str, kind: str, values: Mapping[Any, Any] | None = None, **more: Any) -> Any:
    """Make an operator."""
    return MESSAGE["OpDef"](name=name, type=kind, attr=attrs(values or {}), **more)


def graph(name: str, ops: Iterable[Any]) -> Any:
    """Make a graph."""
    return MESSAGE["GraphDef"](name=name, op=list(ops))


def model_def(
    graphs: Iterable[Any], values: Mapping[Any, Any], name: str = "net", **more: Any
) -> bytes:
    """Write a MODEL_DEF."""
    model = MESSAGE["ModelDef"](name=name, graph=list(graphs), attr=attrs(values), **more)
    return bytes(model.SerializeToString())


def compressed_key(index: int) -> bytes:
    """Spell an index as the key of an attribute: a zero byte, then digits of base 127."""
    digits = b""
    while True:
        index, digit = divmod(index, 127)
        digits += bytes([digit + 1])
        if not index:
            return b"\0" + digits


def inout_info(*blocks: tuple[int, bytes]) -> bytes:
    """Write a MODEL_INOUT_INFO of (type, value)."""
    return b"".join(struct.pack("<II", kind, len(b)) + b for kind, b in blocks)


def tensors(
    *found: tuple[str, int, int, Sequence[int], Sequence[int], Sequence[int], int],
) -> bytes:
    """Write (name, layout, ACL's dtype, shape, shape behind AIPP, ranges, size) of each."""
    written = struct.pack("<I", len(found))
    for name, layout, dtype, shape, behind, ranges, size in found:
        rows = [struct.pack(f"<{len(row)}q", *row) for row in (shape, behind, ranges)]
        lengths = [len(name.encode()), *map(len, rows)]
        written += struct.pack("<Qii4I", size, layout, dtype, *lengths)
        written += name.encode() + b"".join(rows)
    return written


def lists(*rows: Sequence[int]) -> bytes:
    """Write lists of numbers: how many, the length of each, then all numbers."""
    flat = [number for row in rows for number in row]
    lengths = struct.pack(f"<I{len(rows)}I", len(rows), *map(len, rows))
    return lengths + struct.pack(f"<{len(flat)}q", *flat)


def texts(*found: str) -> bytes:
    """Write texts: how many, the length of each, then all of them."""
    lengths = struct.pack(f"<I{len(found)}I", len(found), *map(len, found))
    return lengths + "".join(found).encode()


def kernels(found: Mapping[str, bytes]) -> bytes:
    """Write a store of kernels."""
    return b"".join(
        struct.pack("<III", 0x5D776EFD, len(name), len(code)) + name.encode() + code
        for name, code in found.items()
    )


def libraries(found: Mapping[str, bytes]) -> bytes:
    """Write a store of shared libraries, of vendor `v`."""
    return struct.pack("<I", len(found)) + b"".join(
        struct.pack("<IHHII", 0x5D776EFD, len(name), 0, 1, len(code))
        + name.encode()
        + b"v"
        + code
        for name, code in found.items()
    )


def om(
    *models: Sequence[Part],
    name: str = "net",
    kind: int = 0,
    wide: bool = True,
    align: int = 1,
    **header: int,
) -> bytes:
    """Write an OM of one table a model; `header` is what `head` takes."""
    payload = b""
    for parts in models:
        payload += _table(parts, wide=wide, align=align)
    return head(len(payload), name, kind, len(models), wide=wide, **header) + payload


def _table(parts: Sequence[Part], *, wide: bool, align: int) -> bytes:
    row, top = ("<I4xQQ", "<I4x") if wide else ("<III", "<I")
    table = struct.pack(top, len(parts))
    size = len(table) + len(parts) * struct.calcsize(row)
    offset, content = -size % align, b""
    content += bytes(offset)
    for kind, data in parts:
        table += struct.pack(row, kind, len(content), len(data))
        content += data + bytes(-len(data) % align)
    return table + content


def bundle(*oms: bytes) -> bytes:
    """Write a bundle: its length counts the header, its offsets count from there."""
    parts = [(BUNDLE_VAR, struct.pack("<Q", 7)), *((BUNDLE, each) for each in oms)]
    offset = 8 + 24 * len(parts)
    table, content = struct.pack("<I4x", len(parts)), b""
    for kind, data in parts:
        table += struct.pack("<I4xQQ", kind, offset + len(content), len(data))
        content += data
    payload = table + content
    return head(len(payload) + 256, "", 5, len(oms), wide=True) + payload


def head(
    length: int,
    name: str,
    kind: int,
    models: int,
    *,
    wide: bool,
    magic: int = 0x444F4D49,
    head_size: int = 256,
    encrypted: int = 0,
    unknown: int = 0,
    host: int = 0,
) -> bytes:
    """Write a header, field by field at its offset."""
    made = bytearray(256)
    struct.pack_into("<III", made, 0, magic, head_size, 0x20000000 if wide else 0x10000000)
    struct.pack_into("<I", made, 76, 0 if wide else length)
    struct.pack_into("<BBBB", made, 80, encrypted, 0, kind, 0)
    struct.pack_into("<32s", made, 84, name.encode()[:31])
    struct.pack_into("<I", made, 156, models)
    struct.pack_into("<Q", made, 184, length if wide else 0)
    struct.pack_into("<BB", made, 192, host, unknown)
    return bytes(made)


COMMAND = "/usr/local/Ascend/cann/bin/atc.bin --model=/data/a/net.onnx --output=/tmp/net"


def static(
    values: Mapping[Any, Any] | None = None, weights: bytes = b"\1" * 64, **more: Any
) -> bytes:
    """Write a whole small OM, as `atc` makes it of a static model."""
    data = op(
        "image",
        "Data",
        {"index": 0},
        input_desc=[desc(1, [1, 3, 8, 8], "NCHW")],
        output_desc=[desc(1, [1, 3, 8, 8], "NCHW")],
    )
    conv = op("conv", "Conv2D", {"_datadump_original_op_names": ["stem"]})
    out = op(
        "Node_Output",
        "NetOutput",
        src_name=["conv"],
        src_index=[0],
        input_desc=[desc(2, [1, 4], "ND")],
    )
    attributes = {
        "atc_cmdline": COMMAND,
        "atc_version": "7.7.0.1.238",
        "soc_version": "Ascend310P3",
        "opp_version": "7.7.0.1.238",
        "framework_type": 5,
        "memory_size": 1 << 20,
        "weight_size": 64,
        "attr_model_out_nodes_name": ["conv:0:logits"],
        "scale": 0.5,
        "flag": True,
        **(values or {}),
    }
    parts = [
        (MODEL_DEF, model_def([graph("main", [data, conv, out])], attributes)),
        (WEIGHTS, weights),
        (TASKS, bytes(MESSAGE["ModelTaskDef"](version="v").SerializeToString())),
        (KERNELS, kernels({"conv_k": b"\x7fELF", "add_k": b"\x7fELF2"})),
    ]
    return om(parts, **more)
