"""What acl dumps: read from `acl.json`, written as a device does, in a device's layouts.

    <dump_path>/<time>/<device>/<model>/<model id>/<data index>/
        <Type>.<name>.<task>.<stream>.<time>

Of a configuration that it does not like acl says nothing, and nothing is dumped. What it
does wrong stands in `device.json` under `dump`: "truncated", "missing", "nan", "nothing",
"changes outputs", "another graph", "spaces" (in the files' names, which alone tell).
"""

from __future__ import annotations

import json
import os
import struct

import numpy as np
import onnx
from standin_told import told

NCHW, ND, NC1HWC0 = 0, 2, 3
FLOAT16 = 2
TYPES = {"float32": 1, "int8": 3, "uint8": 4, "int32": 7, "int64": 8, "bool": 11}
C0 = 16
_config = {}


def configure(path):
    """Take the file that aclInit is given."""
    _config.clear()
    if path:
        with open(path, encoding="utf-8") as file:
            _config.update(json.load(file).get("dump", {}))


def is_on(om_path):
    """Whether the model of this file is dumped."""
    name = os.path.splitext(os.path.basename(om_path))[0]
    named = [each.get("model_name") for each in _config.get("dump_list", [])]
    good = _config.get("dump_mode", "output") in ("output", "all")
    good = good and _config.get("dump_op_switch", "off") == "off"
    return good and name in named and os.path.isdir(_config.get("dump_path", ""))


def every_tensor(model, feeds, session):
    """Run a model whose every tensor is an output."""
    names = [name for node in model.graph.node for name in node.output if name]
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    known = {each.name for each in copy.graph.output}
    more = [onnx.ValueInfoProto(name=name) for name in names if name not in known]
    copy.graph.output.extend(more)
    found = session(copy).run(names, feeds)
    return dict(zip(names, found))


def write(om_path, device, operators, tensors):
    """Write a file for each operator."""
    name = os.path.splitext(os.path.basename(om_path))[0]
    parts = ("20260102030405", str(device), name, "1", "0")
    folder = os.path.join(_config["dump_path"], *parts)
    os.makedirs(folder, exist_ok=True)
    fault = told("dump")
    first = next(op for op in operators if op["nodes"])
    if fault == "another graph":
        other = os.path.join(os.path.dirname(folder), "1")
        os.makedirs(other)
        with open(os.path.join(other, "Relu.stranger.9.3.1700000000009"), "wb") as out:
            out.write(dumped("stranger", [np.zeros(4, np.float32)]))
    for task, op in enumerate(operators):
        if fault == "nothing" or (fault == "missing" and op is first):
            continue
        # What no node of ONNX stands for has a tensor of its own.
        given = [
            tensors.get(each, np.zeros((1, 1, 1, 1), np.float32)) for each in op["outputs"]
        ]
        if fault == "nan" and op["nodes"]:
            given = [x * np.float32("nan") if x.dtype.kind == "f" else x for x in given]
        content = dumped("" if fault == "spaces" else op["name"], given)
        if fault == "truncated" and op["nodes"]:
            content = content[:-7]
        spelled = op["name"].replace("/", "_").replace(".", "_")
        if fault != "spaces":
            spelled = spelled.replace(" ", "_").replace("\\", "_")
        file = "{}.{}.{}.3.{}".format(op["type"], spelled, task, 1700000000000 + task)
        with open(os.path.join(folder, file), "wb") as out:
            out.write(content)


def dumped(name, arrays):
    """Return a file: the header's length, the header, the tensors' bytes."""
    described, data = b"", b""
    for array in arrays:
        said, content = laid(array)
        described += message(3, said + number(6, len(content)))
        data += content
    header = (
        message(1, b"2.0") + number(2, 1700000000) + described + message(6, name.encode())
    )
    return struct.pack("<Q", len(header)) + header + data


def laid(array):
    """Lay a tensor out: pictures of float in planes of 16 channels, others as they are."""
    kind, layout, origin = TYPES.get(array.dtype.name), ND, array.shape
    if array.dtype == np.float32:
        kind, array = FLOAT16, array.astype(np.float16)
        if array.ndim == 4:
            layout, array = NC1HWC0, planes(array)
    said = number(1, kind) + number(2, layout) + message(3, shape(array.shape))
    return said + message(7, shape(origin)), array.tobytes()


def planes(array):
    """Turn (n, c, h, w) into (n, c1, h, w, 16)."""
    n, c, h, w = array.shape
    c1 = (c + C0 - 1) // C0
    made = np.zeros((n, c1 * C0, h, w), array.dtype)
    made[:, :c] = array
    return np.ascontiguousarray(made.reshape(n, c1, C0, h, w).transpose(0, 1, 3, 4, 2))


def shape(sizes):
    """Write a Shape, whose sizes are packed."""
    return message(1, b"".join(digits(size) for size in sizes))


def number(field, value):
    """Write a protobuf field of a number."""
    return digits(field << 3) + digits(value)


def message(field, content):
    """Write a protobuf field of bytes."""
    return digits(field << 3 | 2) + digits(len(content)) + content


def digits(value):
    """Write a protobuf number."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
