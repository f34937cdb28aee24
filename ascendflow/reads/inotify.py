"""Linux's inotify, by ctypes: which files below some folders were opened, by anyone.

Source: inotify(7).
"""

from __future__ import annotations

import ctypes
import os
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

IN_MOVED_TO = 0x00000080
IN_CREATE = 0x00000100
IN_OPEN = 0x00000020
IN_Q_OVERFLOW = 0x00004000
IN_ONLYDIR = 0x01000000
IN_ISDIR = 0x40000000
MASK = IN_OPEN | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR
HEADER = struct.Struct("iIII")  # watch, mask, cookie, length of the name
BUFFER_BYTES = 1 << 18


@dataclass
class Opened:
    """What happened below the watched folders.

    Attributes:
        files: files that were opened, by resolved path.
        created: files and folders that came into being meanwhile. Not those whose name was
            there at the start: an editor that saves by renaming makes no new input.
        replaced: folders that came to be where there was one at the start: what is opened
            in them is not seen.
        links: symbolic links that were there at the start.
        overflowed: events were lost.
    """

    files: set[str] = field(default_factory=set)
    created: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    overflowed: bool = False


class Inotify:
    """Watches folders, from the moment it is made until it is drained for the last time.

    Raises:
        OSError: the system has no inotify, or no more instances or watches.
    """

    def __init__(self, folders: Iterable[str], skip: Collection[str]) -> None:
        """Watch `folders` and all below them, but for resolved paths in `skip`."""
        self.opened = Opened()
        self._folder_of: dict[int, str] = {}
        self._at_start: set[str] = set()
        self._libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(self._libc, "inotify_init1"):
            raise OSError("this system has no inotify")
        self.descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise self._last_error("inotify_init1")
        self._watch_below(folders, skip)

    def drain(self) -> None:
        """Take in the events that are waiting."""
        while True:
            try:
                data = os.read(self.descriptor, BUFFER_BYTES)
            except BlockingIOError:
                return
            offset = 0
            while offset < len(data):
                watch, mask, _, length = HEADER.unpack_from(data, offset)
                offset += HEADER.size
                self._take(watch, mask, data[offset : offset + length].rstrip(b"\0"))
                offset += length

    def _take(self, watch: int, mask: int, name: bytes) -> None:
        if mask & IN_Q_OVERFLOW:
            self.opened.overflowed = True
            return
        if not name or watch not in self._folder_of:
            return
        path = f"{self._folder_of[watch]}/{os.fsdecode(name)}"
        if mask & (IN_CREATE | IN_MOVED_TO):
            if path not in self._at_start:
                self.opened.created.add(path)
            elif mask & IN_ISDIR:
                self.opened.replaced.add(path)
        elif mask & IN_OPEN and not mask & IN_ISDIR:
            self.opened.files.add(path)

    def _watch_below(self, folders: Iterable[str], skip: Collection[str]) -> None:
        waiting = list(folders)
        while waiting:
            folder = waiting.pop()
            if not self._watch(folder):
                continue
            with suppress(FileNotFoundError), os.scandir(folder) as entries:
                for entry in entries:
                    self._at_start.add(entry.path)
                    if entry.is_symlink():
                        self.opened.links.append(entry.path)
                    elif entry.is_dir() and entry.path not in skip and entry.name != ".git":
                        waiting.append(entry.path)

    def _watch(self, folder: str) -> bool:
        watch = self._libc.inotify_add_watch(self.descriptor, os.fsencode(folder), MASK)
        if watch >= 0:
            self._folder_of[watch] = folder
            return True
        if ctypes.get_errno() in (2, 20):  # ENOENT, ENOTDIR: it went meanwhile
            return False
        raise self._last_error(f"inotify_add_watch {folder}")

    @staticmethod
    def _last_error(call: str) -> OSError:
        number = ctypes.get_errno()
        return OSError(number, f"{call}: {os.strerror(number)}")
