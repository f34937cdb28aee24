"""Reads and writes the PNG crops in `photos/`, with numpy and zlib only.

The crops are 8-bit grey or RGB, and each row is stored as it is, as differences along
the row, or as differences to the row above (PNG filters 0, 1, 2). Leaving out the
other filters keeps the reader fast without a compiled decoder, so that the samples
need no image library, whose decoders could differ from one machine to the next.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "photos"

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES = {1: 0, 3: 2}  # channels -> PNG colour type
_CHANNELS = {0: 1, 2: 3}


def load(split: str) -> list[np.ndarray]:
    """Loads the crops of one split, in the order of their names.

    Args:
        split: "train" or "test"; the two share no photograph.

    Returns:
        uint8 arrays of shape [height, width, 3]; grey crops have equal channels.
    """
    paths = sorted((FOLDER / split).glob("*.png"))
    if not paths:
        message = f"no *.png in {FOLDER / split}\nhint: run make_photos.py"
        raise FileNotFoundError(message)
    return [np.broadcast_to(image, (*image.shape[:2], 3)) for image in map(read, paths)]


def read(path: Path) -> np.ndarray:
    """Reads one PNG that `write` could have written; [height, width, 1 or 3] uint8."""
    header, data = _chunks(path)
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", header)
    if depth != 8 or colour not in _CHANNELS or interlace:
        raise ValueError(
            f"{path.name}: 8-bit grey or RGB without interlace expected, found depth"
            f" {depth}, colour type {colour}, interlace {interlace}\n"
            "hint: write it with photos.write"
        )
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, -1)
    return _unfilter(path, rows, (height, width, _CHANNELS[colour]))


def write(path: Path, image: np.ndarray) -> None:
    """Writes a uint8 image [height, width, 1 or 3] as PNG."""
    height, width, channels = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    rows = b"".join(_filtered_rows(image))
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    path.write_bytes(_SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks))


def _chunks(path: Path) -> tuple[bytes, bytes]:
    """The header chunk and the joined data chunks."""
    content = path.read_bytes()
    if not content.startswith(_SIGNATURE):
        raise ValueError(f"{path.name}: not a PNG file, it begins with {content[:8]!r}")
    header, data, at = b"", [], len(_SIGNATURE)
    while at < len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        body = content[at + 8 : at + 8 + size]
        if zlib.crc32(kind + body) != struct.unpack_from(">I", content, at + 8 + size)[0]:
            raise ValueError(f"{path.name}: the checksum of chunk {kind!r} is wrong")
        header = body if kind == b"IHDR" else header
        if kind == b"IDAT":
            data.append(body)
        at += 12 + size
    return header, b"".join(data)


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + body))
    return struct.pack(">I", len(body)) + kind + body + checksum


def _unfilter(path: Path, rows: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    image = np.empty(shape, np.uint8)
    above = np.zeros(shape[1:], np.uint8)
    for y, row in enumerate(rows):
        pixels = row[1:].reshape(shape[1:])
        if row[0] == 0:
            above = pixels
        elif row[0] == 1:
            above = np.cumsum(pixels, axis=0, dtype=np.uint8)
        elif row[0] == 2:
            above = pixels + above
        else:
            raise ValueError(
                f"{path.name}: row {y} has PNG filter {row[0]}, only 0, 1 and 2 are read\n"
                "hint: write it with photos.write"
            )
        image[y] = above
    return image


def _filtered_rows(image: np.ndarray) -> list[bytes]:
    """Each row by the filter that leaves the smallest differences (PNG's own advice)."""
    above = np.zeros_like(image[0])
    rows = []
    for row in image:
        left = np.concatenate([np.zeros_like(row[:1]), row[:-1]])
        choices = (row, row - left, row - above)
        sizes = [int(np.abs(choice.view(np.int8).astype(int)).sum()) for choice in choices]
        best = sizes.index(min(sizes))
        rows.append(bytes([best]) + choices[best].tobytes())
        above = row
    return rows
