"""PNG files made by the letter of the specification, for readers to be tried on."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GREY, RGB = 0, 2


def png(path: Path, rows: list[bytes], width: int, *, colour: int, depth: int = 8) -> Path:
    """Write rows, each after the number of its filter, as data in two chunks."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        size, checksum = struct.pack(">I", len(body)), zlib.crc32(kind + body)
        return size + kind + body + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, len(rows), depth, colour, 0, 0, 0)
    data = zlib.compress(b"".join(rows))
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"tEXt", b"Comment\0skipped")
        + chunk(b"IDAT", data[:5])
        + chunk(b"IDAT", data[5:])
        + chunk(b"IEND", b"")
    )
    return path
