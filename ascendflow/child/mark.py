"""A mark in a child's environment, by which all that it started is found again.

A process may leave the child's group and session, and its parent may end; it still has
the environment it was started with, unless it is given another one on purpose.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

MARK = "ASCENDFLOW_CHILD"
"""Names the mark in the environment; each child has another one, and a child's own children
have one that begins with it."""

LOOKS, PAUSE_S = 100, 0.002


def new_mark() -> str:
    """Return a mark for a child of this process, which may itself be such a child."""
    mark, around = os.urandom(8).hex(), os.environ.get(MARK)
    return mark if around is None else f"{around}.{mark}"


def end_marked(mark: str) -> None:
    """Kill every process with this mark but the caller. Without /proc none is found.

    It is looked for until two looks find nothing: who was forked since the first one began
    may not be listed, whose parent has ended since is found in no other way, and who was
    killed ends only when it gets its turn.
    """
    wanted = f"{MARK}={mark}".encode()
    quiet = 0
    for _ in range(LOOKS):
        found, is_clear = _look(wanted)
        found.discard(str(os.getpid()))
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        quiet = quiet + 1 if is_clear and not found else 0
        if quiet == 2:
            return
        if not quiet:
            time.sleep(PAUSE_S)


def _look(wanted: bytes) -> tuple[set[str], bool]:
    """Return who has it, and whether that could be said of everybody."""
    found, is_clear = set(), True
    for pid in filter(str.isdigit, _listed("/proc")):
        environment = _read(f"/proc/{pid}/environ")
        if not environment and not _read(f"/proc/{pid}/cmdline"):
            # A kernel thread or a zombie, which has no program; or one that just begins.
            is_clear = is_clear and not os.path.exists(f"/proc/{pid}/exe")
        elif _is_marked(wanted, environment or _read(f"/proc/{pid}/environ")):
            found.add(pid)
    return found, is_clear


def _is_marked(wanted: bytes, environment: bytes) -> bool:
    return any(
        entry == wanted or entry.startswith(wanted + b".")
        for entry in environment.split(b"\0")
    )


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:  # it ended, or is somebody else's
        return b""
