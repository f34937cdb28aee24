"""How much memory a child's processes hold together, and who goes first for want of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PROC = Path("/proc")
PARENT, SESSION, RESIDENT_PAGES = 1, 3, 21
"""Positions in /proc/<pid>/stat, counted after the command's closing parenthesis."""


def group_bytes(leader: int, *, enough: float) -> int:
    """Return the memory of the session that `leader` leads, and of those that it starts.

    RLIMIT_AS would not do: torch reserves far more addresses than it uses. Resident sizes
    count pages that processes share once for each, so where their sum exceeds `enough`
    the proportional sizes are taken. Without /proc (macOS) resident sizes, by `ps`.

    Args:
        leader: the process id of the session's (and the group's) leader.
        enough: bytes up to which a sum that is too large does no harm.
    """
    if not (PROC / "self" / "stat").exists():
        return group_bytes_by_ps(leader)
    resident = dict(_resident_bytes(leader))
    total = sum(resident.values())
    if total <= enough:
        return total
    return sum(_proportional_bytes(pid, default) for pid, default in resident.items())


def go_first() -> None:
    """Let the system, where memory runs out, end this process before any other.

    Else it may choose doit's, or the user's desktop, for a shape that somebody mistyped.
    """
    try:
        (PROC / "self" / "oom_score_adj").write_text("1000", encoding="ascii")
    except OSError:
        return  # no Linux, or /proc is read-only


def group_bytes_by_ps(leader: int) -> int:
    """Return the resident bytes of a process group, as POSIX `ps` tells; 0 without `ps`."""
    try:
        table = subprocess.run(
            ["ps", "-A", "-o", "pgid=,rss="], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    rows = (line.split() for line in table.splitlines())
    return sum(int(kib) * 1024 for group, kib in rows if int(group) == leader)


def _resident_bytes(leader: int) -> Iterator[tuple[str, int]]:
    """Yield who belongs to a session, or to one that a member of it leads elsewhere."""
    processes = list(_processes())
    sessions = {leader}
    members: set[int] = set()
    while found := {p.pid for p in processes if p.session in sessions} - members:
        members |= found
        # A compiler that a stage runs leads a session of its own.
        sessions |= {p.pid for p in processes if p.pid == p.session and p.parent in found}
    page = os.sysconf("SC_PAGE_SIZE")
    yield from ((str(p.pid), p.pages * page) for p in processes if p.pid in members)


class _Process(NamedTuple):
    pid: int
    parent: int
    session: int
    pages: int


def _processes() -> Iterator[_Process]:
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it ended meanwhile
        fields = stat[stat.rindex(")") + 2 :].split()
        parent, session, pages = (
            int(fields[place]) for place in (PARENT, SESSION, RESIDENT_PAGES)
        )
        yield _Process(int(folder.name), parent, session, pages)


def _proportional_bytes(pid: str, default: int) -> int:
    try:
        text = (PROC / pid / "smaps_rollup").read_text(encoding="utf-8")
    except FileNotFoundError:
        return 0 if not (PROC / pid).exists() else default
    except ProcessLookupError:  # it ended meanwhile
        return 0
    except OSError:
        return default
    for line in text.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return default
