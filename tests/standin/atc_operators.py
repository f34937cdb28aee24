"""The operators that the stand-in of ATC makes of an ONNX model, and how an OM has them.

protobuf is read and written by hand, by the public definitions of ONNX and of GE's
ge_ir.proto: `atc.bin` needs a Python and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS = {"Conv": "Conv2D", "Gemm": "MatMulV2", "Resize": "ResizeBilinearV2"}


def digits(number: int) -> bytes:
    """Write a protobuf number."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def field(number: int, content: bytes) -> bytes:
    """Write a protobuf field of bytes."""
    return digits(number << 3 | 2) + digits(len(content)) + content


def fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Read the fields of a protobuf message that hold bytes."""

    def read(at: int) -> tuple[int, int]:
        number, shift = 0, 0
        while content[at] > 127:
            number |= (content[at] & 127) << shift
            at, shift = at + 1, shift + 7
        return number | content[at] << shift, at + 1

    at = 0
    while at < len(content):
        key, at = read(at)
        if key & 7 == 2:
            size, at = read(at)
            yield key >> 3, content[at : at + size]
            at += size
        elif key & 7 == 0:
            _, at = read(at)
        else:
            at += {1: 8, 5: 4}[key & 7]


def nodes_of(model: bytes) -> list[dict[str, Any]]:
    """Read the nodes of an ONNX model: name, kind, inputs, outputs."""
    found = []
    graph = b"".join(content for number, content in fields(model) if number == 7)
    for number, node in fields(graph):
        if number == 1:
            said: dict[int, list[str]] = {1: [], 2: [], 3: [""], 4: [""]}
            for name, content in fields(node):
                if name in said:
                    said[name].append(content.decode())
            found.append({"inputs": said[1], "outputs": said[2], "node": said[3][-1]})
            found[-1]["type"] = said[4][-1]
    return found


def inputs_of(model: bytes) -> dict[str, list[bool]]:
    """Read the inputs of an ONNX model: name -> whether each dimension is fixed."""
    graph = b"".join(content for number, content in fields(model) if number == 7)
    kept = [dict(fields(content))[8].decode() for n, content in fields(graph) if n == 5]
    found = {}
    for number, content in fields(graph):
        if number == 11:
            said = dict(fields(content))
            tensor = dict(fields(said[2])).get(1, b"")
            shape = dict(fields(tensor)).get(2, b"")
            # A length is field 1, a number; a symbol is field 2, text.
            dims = [dim[:1] == b"\x08" for each, dim in fields(shape) if each == 1]
            found[said[1].decode()] = dims
    return {name: dims for name, dims in found.items() if name not in kept}


def operators(model: bytes) -> list[dict[str, Any]]:
    """Compile: a Relu goes into the node before it, which nobody else reads.

    Where the first node of a model takes a picture's layout, a TransData is put before it,
    which no node of ONNX stands for.
    """
    nodes = nodes_of(model)
    readers: dict[str, int] = {}
    for node in nodes:
        for name in node["inputs"]:
            readers[name] = readers.get(name, 0) + 1
    found: list[dict[str, Any]] = []
    for node in nodes:
        op = {"name": node["node"], "type": OPERATORS.get(node["type"], node["type"])}
        op.update(nodes=[node["node"]], outputs=node["outputs"])
        before: dict[str, Any] = found[-1] if found else {"type": "", "outputs": []}
        alone = readers.get("".join(node["inputs"])) == 1
        fuses = node["type"] == "Relu" and before["type"] == "Conv2D" and alone
        if fuses and node["inputs"] == before["outputs"]:
            before["name"] += node["node"]
            before["nodes"].append(node["node"])
            before["outputs"] = node["outputs"]
            continue
        if op["type"] == "Conv2D" and not found:
            name = "trans_TransData_0"
            found.append({"name": name, "type": "TransData", "nodes": [], "outputs": [""]})
        found.append(op)
    return found


def attribute(name: str, value: str | int | list[str]) -> bytes:
    """Write an entry of a map of attributes."""
    if isinstance(value, str):
        content = field(2, value.encode())
    elif isinstance(value, int):
        content = digits(3 << 3) + digits(value)
    else:
        content = field(1, b"".join(field(2, each.encode()) for each in value))
    return field(1, name.encode()) + field(2, content)


def graph_definition(ops: list[dict[str, Any]]) -> bytes:
    """Write a GraphDef: operators, and which nodes of ONNX they come from."""
    written = [field(1, b"graph")]
    for op in ops:
        content = field(1, op["name"].encode()) + field(2, op["type"].encode())
        names = attribute("_datadump_original_op_names", op["nodes"])
        content += field(10, names)
        for index in range(len(op["outputs"])):
            said = attribute("origin_format", "NCHW")
            description = field(5, said)
            if op["nodes"]:
                origin = attribute("_datadump_origin_name", op["nodes"][-1])
                number = attribute("_datadump_origin_output_index", index)
                description += field(5, origin) + field(5, number)
            content += field(34, description)
        written.append(field(6, content))
    return b"".join(written)
