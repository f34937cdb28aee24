"""Writes an OM of 500 MB into FOLDER: the graph of a large model, and weights."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

FILE = "large.om"
OPERATORS, ATTRIBUTES, BYTES = 2000, 40, 500_000_000
_TEXT = b"te_conv2d_5f3a_kernel_name_of_a_usual_length"


def write(path: Path) -> None:
    """Write it; the weights are zeros that no disk holds."""
    model = _field(1, b"large") + _field(7, _graph())
    model += b"".join(_attribute(11, b"attribute_%d" % i, _TEXT) for i in range(60))
    weights = BYTES - 256 - 8 - 2 * 24 - len(model)
    table = struct.pack("<I4x", 2)
    table += struct.pack("<I4xQQ", 0, 0, len(model))
    table += struct.pack("<I4xQQ", 1, len(model), weights)
    header = bytearray(256)
    struct.pack_into("<4sII", header, 0, b"IMOD", 256, 0x20000000)
    struct.pack_into("<Q", header, 184, BYTES - 256)
    with path.open("wb") as file:
        file.write(header + table + model)
        file.truncate(BYTES)


def _graph() -> bytes:
    described = _field(3, _field(1, b"\x01\x40\x38\x38")) + _field(4, b"NC1HWC0")
    described = b"\x10\x02" + described + _attribute(5, b"origin_format", b"NCHW") * 5
    attributes = b"".join(
        _attribute(10, b"_op_attribute_%d" % i, _TEXT) for i in range(ATTRIBUTES)
    )
    kinds = [b"Data", *[b"Conv2D"] * (OPERATORS - 2), b"NetOutput"]
    ends = b"".join(_field(number, described) for number in (33, 33, 34))
    return _field(1, b"main") + b"".join(
        _field(6, _field(1, b"node_%d" % i) + _field(2, kind) + attributes + ends)
        for i, kind in enumerate(kinds)
    )


def _attribute(number: int, name: bytes, text: bytes) -> bytes:
    return _field(number, _field(1, name) + _field(2, _field(2, text)))


def _field(number: int, content: bytes) -> bytes:
    """Write a field of protobuf that has a length."""
    return _number(number << 3 | 2) + _number(len(content)) + content


def _number(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes(written) + bytes([value])


if __name__ == "__main__":
    write(Path(sys.argv[1]) / FILE)
