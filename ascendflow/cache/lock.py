"""A lock between processes and threads, held as long as its process lives.

`flock` and not filelock: importing that takes as long as a whole run that has nothing
to do. The kernel drops the lock with the process, so none is ever left behind.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ascendflow.cache.files import explained, make_parents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_AGAIN_S = 0.05


@contextmanager
def hold(
    path: str | os.PathLike[str],
    *,
    note: str = "",
    on_wait: Callable[[str], None] | None = None,
    patience_s: float = 0.0,
) -> Iterator[None]:
    """Hold the lock at `path`, waiting for whoever holds it.

    Args:
        path: the lock's file; made if need be, with its folder.
        note: who we are, for those who wait for us.
        on_wait: called once, with the holder's note, when it has to be waited for; who
            has left none, or not yet, is "another process".
        patience_s: seconds to wait before that is worth a word.

    Raises:
        AscendflowError: the file cannot be made.
    """
    descriptor = _acquire(os.fspath(path), on_wait, patience_s)
    try:
        with suppress(OSError):  # of a full disk: it is held without a note, too
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, note.encode("utf-8", "surrogateescape"), 0)
        yield
    finally:
        os.close(descriptor)  # which unlocks


def this_process() -> str:
    """Return who we are, as a note: "process 12 (doit model=pan)"."""
    command = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
    return f"process {os.getpid()} ({command})"


def remove_if_free(path: str | os.PathLike[str]) -> bool:
    """Delete a lock's file if nobody holds it."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _acquire(path: str, on_wait: Callable[[str], None] | None, patience_s: float) -> int:
    import fcntl

    while True:
        with explained(path):
            make_parents(path)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if not _is_free_within(patience_s, descriptor):
                if on_wait is not None:
                    note = os.pread(descriptor, 1000, 0).decode("utf-8", "replace")
                    on_wait(note or "another process")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_still_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # deleted while we waited: a lock that nobody else sees


def _is_free_within(seconds: float, descriptor: int) -> bool:
    """Take the lock; False if it is held by another all that time."""
    import fcntl

    end = time.monotonic() + seconds
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(LOOK_AGAIN_S)


def _is_still_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
