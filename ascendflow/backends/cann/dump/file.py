"""A dump file: the tensors of one operator, as they lay in the device's memory.

Eight bytes (the header's length, little endian), a header (protobuf's DumpData), then the
tensors' bytes one after the other: inputs, outputs, buffers, workspaces.
Source: CANN 8.1 dump_data.proto; msprobe 26.2 big_dump_data.py.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ascendflow.backends.cann.dump.messages import Messages
from ascendflow.backends.cann.dump.tensor import INPUT, OUTPUT, SCRATCH, read_tensor
from ascendflow.errors import StageError
from ascendflow.wire import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from ascendflow.backends.cann.dump.tensor import Tensor

_LENGTH = struct.Struct("<Q")
_HINT = "it may have been read while it was written, or its copy was cut: dump again"
_VERSION, _TIME, _OP_NAME = 1, 2, 6
_TENSORS = {4: INPUT, 3: OUTPUT, 5: SCRATCH, 8: SCRATCH}
"""Fields of DumpData, in the order in which their bytes follow the header."""


@dataclass(frozen=True, slots=True)
class Dump:
    """What one file holds.

    Attributes:
        path: the file.
        version: of the form, e.g. "2.0".
        time: when it was written, as the device counts.
        op_name: the device operator; empty where the file does not tell.
        inputs: in order.
        outputs: in order.
        scratch: bytes of buffers and workspaces.
        beyond: bytes after the last tensor, of which the header tells nothing.
    """

    path: Path
    version: str
    time: int
    op_name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    scratch: int
    beyond: int

    def raw(self, tensor: Tensor) -> NDArray[np.uint8]:
        """Return the bytes of one of its tensors; they are read when they are looked at."""
        import numpy as np

        if not tensor.size:
            return np.empty(0, np.uint8)
        return np.memmap(self.path, np.uint8, "r", tensor.start, (tensor.size,))


def read(path: Path) -> Dump:
    """Read the header of a dump file, and where its tensors lie.

    Raises:
        StageError: it is no dump file, or not all of one.
    """
    with _mapped(path) as data:
        try:
            return _read(path, data)
        except MalformedError as error:
            where = f"byte {error.offset} of {len(data)}"
            raise StageError(f"{path}: {error.what} ({where})", hint=_HINT) from error


def _read(path: Path, data: mmap.mmap) -> Dump:
    (length,) = _LENGTH.unpack_from(data)
    left = len(data) - _LENGTH.size
    if not 0 < length <= left:
        raise MalformedError(0, f"its header has {length} bytes, {left} are left")
    messages, end = Messages(data), _LENGTH.size + length
    time, texts = 0, {_VERSION: "", _OP_NAME: ""}
    found: dict[int, list[Tensor]] = {number: [] for number in _TENSORS}
    for field in messages.fields(_LENGTH.size, end):
        if field.number in texts:
            texts[field.number] = messages.text(field)
        elif field.number == _TIME:
            time = messages.number(field)
        elif field.number in _TENSORS:
            numbers = _TENSORS[field.number]
            found[field.number].append(read_tensor(messages, field, numbers))
    at, placed = end, []
    for tensors in found.values():
        row = tuple(_placed(tensors, at))
        at += sum(tensor.size for tensor in row)
        placed.append(row)
    if at > len(data):
        needed, there = at - end, len(data) - end
        raise MalformedError(end, f"its tensors have {needed} bytes, {there} are left")
    inputs, outputs, *others = placed
    scratch = sum(tensor.size for row in others for tensor in row)
    named = texts[_VERSION], time, texts[_OP_NAME]
    return Dump(path, *named, inputs, outputs, scratch, len(data) - at)


def _placed(tensors: list[Tensor], at: int) -> Iterator[Tensor]:
    for tensor in tensors:
        yield replace(tensor, start=at)
        at += tensor.size


@contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    try:
        # A pipe would block before it could be told from a file.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise StageError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StageError(f"{path}: is no regular file")
        if status.st_size <= _LENGTH.size:
            told = f"{path}: has {status.st_size} bytes, a dump more than {_LENGTH.size}"
            raise StageError(told, hint=_HINT)
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as data:
            yield data
    finally:
        os.close(descriptor)
