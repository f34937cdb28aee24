"""Reads and writes 8-bit RGB PNG files whose rows are all differences to the left pixel.

That one of PNG's filters is undone by a sum along the rows, so that the samples need no
image library, whose decoders could differ from one machine to the next.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TO_THE_LEFT = 1  # number of the filter
_FORMAT = (8, 2, 0, 0, 0)  # depth, RGB, compression, filters, no interlace


def write(path: Path, image: np.ndarray) -> None:
    """Write uint8 [height, width, 3]."""
    height, width, _ = image.shape
    differences = np.diff(image, axis=1, prepend=np.zeros_like(image[:, :1]))
    rows = np.full((height, 1 + 3 * width), _TO_THE_LEFT, np.uint8)
    rows[:, 1:] = differences.reshape(height, -1)
    chunks = (
        (b"IHDR", struct.pack(">II5B", width, height, *_FORMAT)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    path.write_bytes(_SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks))


def read(path: Path) -> np.ndarray:
    """Read a file that `write` wrote; uint8 [height, width, 3].

    Raises:
        ValueError: it is another kind of PNG, or none, or damaged.
    """
    chunks = _chunks(path)
    width, height, *form = struct.unpack(">II5B", chunks[b"IHDR"])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    if tuple(form) != _FORMAT or not (rows[:, 0] == _TO_THE_LEFT).all():
        raise ValueError(
            f"{path.name}: not 8-bit RGB with filter {_TO_THE_LEFT} in every row\n"
            "hint: write it with png.write, as make_crops.py does"
        )
    differences = rows[:, 1:].reshape(height, width, 3)
    return np.cumsum(differences, axis=1, dtype=np.uint8)


def _chunks(path: Path) -> dict[bytes, bytes]:
    """Return the chunks by their kind, those of one kind joined."""
    content = path.read_bytes()
    if not content.startswith(_SIGNATURE):
        raise ValueError(f"{path.name}: not a PNG file, it begins with {content[:8]!r}")
    found: dict[bytes, bytes] = {}
    at = len(_SIGNATURE)
    while at < len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        body = content[at + 8 : at + 8 + size]
        if content[at : at + 12 + size] != _chunk(kind, body):
            raise ValueError(f"{path.name}: chunk {kind!r} is damaged")
        found[kind] = found.get(kind, b"") + body
        at += 12 + size
    return found


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + body))
    return struct.pack(">I", len(body)) + kind + body + checksum
