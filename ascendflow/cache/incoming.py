"""Files on their way into a store: named here, so that a run that is ended leaves none.

Threads end with their process wherever they are, and what they were to remove stays.
"""

from __future__ import annotations

import errno
import os
import threading
from contextlib import suppress

from ascendflow.cache.files import beside, make_parents

_names: set[str] = set()
_is_over = False
# Reentrant: the signal handler that calls `end_all` may interrupt whoever holds it.
_lock = threading.RLock()


def open_new(folder: str) -> tuple[str, int]:
    """Make an empty file in `folder`, and return its name and a descriptor.

    Raises:
        OSError: it cannot be made, or this process is about to end.
    """
    name = beside(os.path.join(folder, "blob"))
    make_parents(name)
    with _lock:
        if _is_over:
            raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
        _names.add(name)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        return name, os.open(name, flags, 0o600)


def drop(name: str) -> None:
    """Remove a file, unless it was given another name."""
    with suppress(FileNotFoundError):
        os.unlink(name)
    _names.discard(name)


def end_all() -> None:
    """Remove all such files of this process, which is about to end, and make no more."""
    global _is_over  # noqa: PLW0603  of the process, as its end is
    with _lock:
        _is_over = True
        for name in list(_names):
            with suppress(OSError):  # its disk may be gone; there is more to end
                drop(name)
