"""What a run may leave behind: processes, and locks that are held."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def processes_in(folder: Path) -> list[str]:
    """Describe the living processes that work in a folder, or whose command names it.

    Whatever group, session or parent they have by now.
    """
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            where = os.readlink(f"/proc/{pid}/cwd")
            command = (
                Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            )
        except OSError:  # it ended, or is a zombie
            continue
        if Path(where).is_relative_to(folder) or f"{folder}/" in command:
            found.append(f"{pid} {command}in {where}")
    return found


def free_locks(folder: Path) -> list[Path]:
    """List the lock files below a folder that nobody holds."""
    free = []
    for path in sorted(folder.rglob("*.lock")):
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            free.append(path)
    return free
