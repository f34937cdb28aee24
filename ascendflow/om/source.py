"""The bytes of a file, and how much may be kept of it: what is told does not outgrow it."""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.wire import MalformedError, walk

if TYPE_CHECKING:
    import struct
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from ascendflow.wire import Field

LONGEST_TEXT = 1 << 16
"""Bytes of a text that is shown whole."""

_ALLOWANCE = 1 << 20
_TIMES = 4
_PER_ITEM = 512
"""What one value costs Python: itself, its place in a dict, its pieces of JSON."""
_PER_BYTE = 8
"""What a byte of text costs at worst: escaped for JSON, and two copies of it."""
_MOST_PARTS = 20_000_000
"""Fields of protobuf that are walked over, many times what a large model has; seconds."""
_CHUNK = 1 << 20
_SMALL = 1 << 16


class Source:
    """A file in memory's reach.

    A few bytes can stand for much: an index for a long name, an empty message for an
    object. So what is kept is charged, against an amount that grows with the file.

    Attributes:
        data: the file, mapped; only what is looked at is read.
        size: its bytes.
    """

    def __init__(self, data: mmap.mmap, descriptor: int) -> None:
        self.data = data
        self._descriptor = descriptor
        self.size = len(data)
        self._left = _ALLOWANCE + _TIMES * self.size
        self._parts = _MOST_PARTS

    def charge(self, at: int, length: int = 0, items: int = 1) -> None:
        """Count what is kept: `items` values, and a text of `length` bytes, of byte `at`.

        Raises:
            MalformedError: no compiler's file holds so much in so few bytes.
        """
        self._left -= _PER_ITEM * items + _PER_BYTE * length
        if self._left < 0:
            kept = _ALLOWANCE + _TIMES * self.size
            what = f"what the file says of itself takes more than {kept} bytes to tell"
            raise MalformedError(at, what)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Give back what is charged meanwhile: nothing of it is kept."""
        left = self._left
        try:
            yield
        finally:
            self._left = left

    def walk(self, start: int, stop: int) -> Iterator[Field]:
        """Yield the fields of a message, each counted as a part.

        Raises:
            MalformedError: it is no message, or the file has more parts than any.
        """
        for field in walk(self.data, start, stop):
            self.count(field.start, 1)
            yield field

    def count(self, at: int, parts: int) -> None:
        """Count what is done, so that no file keeps us for long.

        Raises:
            MalformedError: it is more than any compiler's file takes.
        """
        self._parts -= parts
        if self._parts < 0:
            raise MalformedError(at, f"more than {_MOST_PARTS} parts")

    def unpack(self, layout: struct.Struct, at: int, stop: int) -> tuple[Any, ...]:
        """Read a structure that must end before `stop`.

        Raises:
            MalformedError: it does not.
        """
        if at + layout.size > stop:
            what = f"{layout.size} bytes are expected, {max(stop - at, 0)} are left"
            raise MalformedError(at, what)
        return layout.unpack_from(self.data, at)

    def text(self, start: int, stop: int) -> str:
        """Read a text; bytes that are not UTF-8 are spelled out, a very long one is cut."""
        length = stop - start
        kept = min(length, LONGEST_TEXT)
        self.charge(start, kept)
        text = self.data[start : start + kept].decode(errors="backslashreplace")
        return text if kept == length else f"{text}... ({length} bytes)"

    def sha256(self, start: int, stop: int) -> str:
        """Digest a range."""
        digest = hashlib.sha256()
        self.feed(digest, start, stop)
        return digest.hexdigest()

    def feed(self, digest: hashlib._Hash, start: int, stop: int) -> None:
        """Put a range into `digest`; a large one in pieces, and without mapping it."""
        if stop - start < _SMALL:
            digest.update(self.data[start:stop])
            return
        for at in range(start, stop, _CHUNK):
            wanted = min(_CHUNK, stop - at)
            piece = os.pread(self._descriptor, wanted, at)
            if len(piece) != wanted:
                raise MalformedError(at, f"{wanted} bytes are expected, {len(piece)} came")
            digest.update(piece)


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a file; what is found to be malformed in it is told with its name and size.

    Raises:
        StageError: it is no file with anything in it, or what is in it is malformed.
    """
    with _mapped(path) as source:
        try:
            yield source
        except MalformedError as error:
            where = f"byte {error.offset} of {source.size}"
            raise StageError(f"{path}: {error.what} ({where})", hint=_HINT) from error


_HINT = "if it was copied here, compare its size and sha256 with the original's"


@contextmanager
def _mapped(path: Path) -> Iterator[Source]:
    # A pipe would block before it could be told from a file.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StageError(f"{path}: is no regular file")
        if status.st_size == 0:
            raise StageError(f"{path}: is empty: 0 bytes")
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as data:
            yield Source(data, descriptor)
    finally:
        os.close(descriptor)
