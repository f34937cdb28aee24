"""Reads that Python itself makes, told by its audit events.

Source of the events: docs.python.org/3/library/audit_events.html. They come before the
call, so each path is looked at to see what the call will find.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendflow.reads.names import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Container

IMPORT_SYSTEM = ("importlib._bootstrap_external", "importlib.metadata")
"""Modules whose listings of folders are not the user's."""


@dataclass
class AuditTrail:
    """Absolute, normalised paths as the program spelled them, links unresolved.

    Attributes:
        opened: files that were there when they were opened for reading.
        listed: folders that were listed.
        missing: names that were opened or listed and not there.
        created: files and folders that this process made.
        written: files that it wrote to and did not read.
        states: what was opened or listed -> its identity when that was first done.
        broken: an exception of the hook itself; then nothing here can be trusted.
    """

    opened: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    created: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    states: dict[str, str] = field(default_factory=dict)
    broken: Exception | None = None
    is_active: bool = False

    def start(self) -> None:
        """Begin to listen. An audit hook cannot be removed; `stop` makes it idle."""
        handlers: dict[str, Callable[..., None]] = {
            "open": self._open,
            "os.listdir": self._list,
            "os.scandir": self._list,
            "os.mkdir": self._make_folder,
            "os.rename": self._rename,
            "ctypes.dlopen": self._load_library,
            "sqlite3.connect": self._connect,
        }

        def hook(event: str, args: tuple[Any, ...]) -> None:
            if not self.is_active or (handler := handlers.get(event)) is None:
                return
            try:
                handler(*args)
            except Exception as error:  # noqa: BLE001  it would fail the user's call
                self.broken = error

        self.is_active = True
        sys.addaudithook(hook)

    def stop(self) -> None:
        """Record nothing more."""
        self.is_active = False

    def is_created(self, path: str) -> bool:
        """Whether this process made a file, or a folder around it."""
        return is_among(path, self.created)

    def _open(self, target: Any, mode: str | None, flags: int) -> None:
        path = _path(target)
        if path is None or path in self.opened:
            return
        if flags == 0 and mode is not None and mode[:1] in ("w", "a", "x"):
            flags = os.O_WRONLY | os.O_CREAT  # a C stream, which names no flags
        reads = flags & os.O_ACCMODE != os.O_WRONLY and not flags & os.O_TRUNC
        found = _found(path)
        if found is None:
            (self.created if flags & os.O_CREAT else self.missing).add(path)
        elif stat.S_ISDIR(found.st_mode):
            self._note(path, found, self.listed)
        elif not stat.S_ISREG(found.st_mode):
            return
        elif reads:
            self._note(path, found, self.opened)
        else:
            (self.created if flags & os.O_TRUNC else self.written).add(path)

    def _list(self, target: Any) -> None:
        caller = sys._getframe(2).f_globals.get("__name__", "")  # noqa: SLF001
        if caller.startswith(IMPORT_SYSTEM):
            return
        path = _path("." if target is None else target)
        if path is None:
            return
        found = _found(path)
        if found is None:
            self.missing.add(path)
        elif stat.S_ISDIR(found.st_mode):
            self._note(path, found, self.listed)

    def _note(self, path: str, found: os.stat_result, among: set[str]) -> None:
        self.states.setdefault(path, identity(found))
        among.add(path)

    def _make_folder(self, target: Any, *_: object) -> None:
        path = _path(target)
        if path is not None and _found(path) is None:
            self.created.add(path)

    def _rename(self, source: Any, destination: Any, *_: object) -> None:
        old, new = _path(source), _path(destination)
        if old is None or new is None or new in self.opened:
            return  # what was read before it was replaced stays an input
        if self.is_created(old):
            self.created.add(new)

    def _load_library(self, name: Any) -> None:
        if isinstance(name, str | bytes | os.PathLike) and "/" in os.fsdecode(name):
            self._open(name, None, os.O_RDONLY)

    def _connect(self, database: Any) -> None:
        if isinstance(database, str | bytes | os.PathLike):
            text = os.fsdecode(database)
            if text and text != ":memory:" and not text.startswith("file:"):
                self._open(text, None, os.O_RDWR | os.O_CREAT)


def _path(target: Any) -> str | None:
    """Return an absolute path; None for a descriptor that leads to no path."""
    if isinstance(target, int):
        try:
            return os.readlink(f"/proc/self/fd/{target}") if target > 2 else None
        except OSError:
            return None
    text = os.fsdecode(target)
    if "\0" in text:
        return None
    if ".." in text:  # after a link, `..` is not where it looks to be
        return os.path.realpath(text)
    return os.path.abspath(text)


def is_among(path: str, paths: Container[str]) -> bool:
    """Whether a path, or a folder around it, is one of `paths`."""
    while path not in paths:
        outer = os.path.dirname(path)
        if outer == path:
            return False
        path = outer
    return True


def _found(path: str) -> os.stat_result | None:
    """Return what `stat` says of what is at `path`, or None."""
    try:
        return os.stat(path)
    except OSError:
        return None
