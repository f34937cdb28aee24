"""Writing files whole or not at all, and saying plainly why one cannot be written."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ascendflow.cache.digest import PREFIX
from ascendflow.errors import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHUNK = 1 << 20
FICLONE = 0x40049409  # linux/fs.h; shares the blocks, copied on the first write


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn an `OSError` of the block into an `AscendflowError` that names the path."""
    try:
        yield
    except OSError as error:
        raise plain(error, path) from error


def beside(path: str) -> str:
    """Return a fresh name in the folder of `path`, for a file that is renamed to it."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}.tmp")


def make_parents(path: str) -> None:
    """Make the folder that `path` is in."""
    os.makedirs(os.path.dirname(path), exist_ok=True)


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yield a name to write to; on success it becomes `path`, else it is removed.

    Nothing is fsynced: every reader of ours verifies what it reads, so what a power
    cut tears costs one execution, while a sync would cost every stage its latency.
    """
    temporary = beside(path)
    try:
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def write_bytes(path: str, data: bytes) -> None:
    """Write a file so that a reader sees the old or the new content, never a part.

    Raises:
        AscendflowError: the disk is full or the folder cannot be written to.
    """
    with explained(path):
        make_parents(path)
        with replacing(path) as temporary, open(temporary, "xb") as file:
            file.write(data)


def write_disposable(path: str, data: bytes) -> None:
    """Write a file that is missed by nobody: who looks just now may find none.

    The old one goes first, since ext4 writes out what is renamed over another file.

    Raises:
        AscendflowError: the disk is full or the folder cannot be written to.
    """
    with suppress(OSError):
        os.unlink(path)
    write_bytes(path, data)


def copy_digesting(source: int, target: int) -> tuple[str, int]:
    """Copy an open file into an empty one and digest what the copy holds.

    The blocks are shared where the file system can (btrfs, xfs, ...); then the digest
    is read back from the copy, so that it speaks of the copy either way.

    Args:
        source: descriptor open for reading, at the start.
        target: descriptor open for reading and writing, at the start, empty.

    Returns:
        The digest and the size in bytes.
    """
    shared = _clone(source, target)
    digest, size = hashlib.sha256(), 0
    buffer = memoryview(bytearray(CHUNK))
    while count := os.readv(target if shared else source, [buffer]):
        chunk = buffer[:count]
        digest.update(chunk)
        size += count
        if not shared:
            _write(target, chunk)
    return PREFIX + digest.hexdigest(), size


def copy(source: int, target: int, *, is_wanted: Callable[[], bool] = lambda: True) -> None:
    """Copy an open file into an empty one, undigested.

    Args:
        source: descriptor open for reading, at the start.
        target: descriptor open for writing, at the start, empty.
        is_wanted: asked now and then; the rest is left where it no longer is.
    """
    if _clone(source, target):
        return
    buffer = memoryview(bytearray(CHUNK))
    while is_wanted() and (count := os.readv(source, [buffer])):
        _write(target, buffer[:count])


def _write(target: int, chunk: memoryview) -> None:
    while chunk:
        chunk = chunk[os.write(target, chunk) :]


def _clone(source: int, target: int) -> bool:
    import fcntl

    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError:
        return False
    return True


def put_in_place(new: str, path: str) -> None:
    """Rename a file or folder to `path`, replacing whatever is there."""
    if os.path.isdir(new) or (os.path.isdir(path) and not os.path.islink(path)):
        old = beside(path)
        with suppress(FileNotFoundError):
            os.rename(path, old)
        os.rename(new, path)
        remove(old)
    else:
        os.replace(new, path)


def remove(path: str) -> None:
    """Delete a file, or a folder with all that is in it, if it is there."""
    import shutil

    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
