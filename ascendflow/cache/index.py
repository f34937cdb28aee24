"""Remembers the digest of every file it hashed, so that each content is hashed once.

A file is known by absolute path, size, mtime_ns, ctime_ns and inode. They are compared
for equality only, so a clock that was set back does no harm; and ctime cannot be set by
a program, so a content changed with its mtime put back is noticed.

One thing could fool it: a file changed twice within one tick of the file system's clock,
hashed in between. So what changed less than two ticks ago is hashed only after those
have passed (8 ms at 250 Hz, once for a batch of files); where the clock is coarser than
that, such a file is hashed and not remembered.
"""

from __future__ import annotations

import errno
import os
import stat as stat_module
import sys
import threading
import time
import weakref
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING

from ascendflow.cache import index_file
from ascendflow.cache.digest import PREFIX
from ascendflow.cache.files import CHUNK
from ascendflow.cache.tree import EMPTY, files_of, is_folder
from ascendflow.cache.twins import Twins, look
from ascendflow.reads.names import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ascendflow.documents.record import FileEntry

StrPath = str | os.PathLike[str]

LARGE = 1 << 18
"""Bytes from which on a file is worth a thought: hashed in the time of ten stats."""

_SECOND = 1_000_000_000


def _tick_ns() -> int:
    """How coarse the clock is that the kernel stamps files with."""
    if sys.platform == "linux":
        return int(time.clock_getres(5) * _SECOND)  # CLOCK_REALTIME_COARSE, linux/time.h
    return 10_000_000


class Index:
    """Digests of files by their stat; safe with threads and with other processes.

    Attributes:
        hashed_files: how many contents this process read to hash them.

    `on_unknown` is told the size of each file before it is hashed.
    """

    def __init__(
        self,
        path: StrPath,
        *,
        clock: Callable[[], int] = time.time_ns,
        sleep: Callable[[float], None] = time.sleep,
        on_unknown: Callable[[Index, int], None] = lambda _index, _size: None,
    ) -> None:
        self.hashed_files = 0
        self._path = os.fspath(path)
        self._clock = clock
        self._sleep = sleep
        self._on_unknown = on_unknown
        self._tick = _tick_ns()
        self._entries: index_file.Entries | None = None
        self._end = 0
        self._twins = Twins()
        self._buffers = threading.local()
        self._renew_locks()
        mine = weakref.WeakMethod(self._renew_locks)
        os.register_at_fork(after_in_child=lambda: (renew := mine()) and renew())

    def _renew_locks(self) -> None:
        """Forget who holds what: a forked process has none of those threads."""
        self._lock = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}

    def digest(self, path: StrPath) -> str:
        """Digest of a regular file (a link is followed), hashed only if it is not known.

        Raises:
            OSError: there is no such file, or it is a folder, a pipe or a device.
        """
        return self._entry(os.path.abspath(path))["digest"]

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Digests of many regular files, by path; those of small ones are noted in one go.

        Raises:
            OSError: one of them is not there, or no regular file.
        """
        digests: dict[str, str] = {}
        noted: dict[str, tuple[str, str]] = {}
        for path in paths:
            quoted = encode_basestring_ascii(path)
            stat = os.stat(path)
            if (entry := self._known(quoted, path, stat)) is None:
                if stat.st_size >= LARGE:
                    entry = self._entry(path, stat)
                else:
                    entry, state = self._read(path)
                    if state is not None:
                        noted[quoted] = state, entry["digest"]
            digests[path] = entry["digest"]
        if noted:
            self._note(noted)
        return digests

    def tree(self, path: StrPath) -> dict[str, FileEntry]:
        """Digest and size of each file of an artifact, by path relative to it.

        A file has the one path ""; an empty folder below ends with "/".

        Raises:
            OSError: nothing is there.
            AscendflowError: a symbolic link, pipe or device is part of it.
        """
        name = os.path.abspath(path)
        stat = os.lstat(name)
        if stat_module.S_ISREG(stat.st_mode):
            return {"": self._entry(name, stat)}
        entries: dict[str, FileEntry] = {}
        for relative, full in files_of(name):
            if is_folder(relative):
                entries[relative] = {"digest": EMPTY, "size": 0}
            else:
                entries[relative] = self._entry(full)
        return entries

    def remember(self, digests: Mapping[str, str]) -> None:
        """Note the digests, by path, of files whose content is known by construction.

        Call it once for many: it waits out the clock's tick as `digest` does, so that a
        change made after it returns is noticed.

        Raises:
            OSError: one of the files is not there.
        """
        found = {os.path.abspath(path): digest for path, digest in digests.items()}
        stats = {name: os.stat(name) for name in found}
        for stat in stats.values():
            self._wait(stat.st_ctime_ns)
        self._note(
            {
                encode_basestring_ascii(name): (identity(stat), found[name])
                for name, stat in stats.items()
                if not self._is_recent(stat.st_ctime_ns)
                and identity(os.stat(name)) == identity(stat)
            }
        )

    def carry(self, moved: Mapping[str, str]) -> None:
        """Know moved files by their new names, in the states known by the old ones.

        What was written to since is in another state, and no more known than before.

        Args:
            moved: new path -> old path.
        """
        entries = self._entries or {}
        noted: dict[str, tuple[str, str]] = {}
        for new, old in moved.items():
            quoted = encode_basestring_ascii(os.path.abspath(old))
            found = entries.get(quoted, "")
            state = found.partition("\t")[0]
            if (digest := index_file.digest_in(found, quoted, state)) is not None:
                noted[encode_basestring_ascii(os.path.abspath(new))] = state, digest
        if noted:
            self._note(noted)
            self._twins.moved(
                {os.path.abspath(old): os.path.abspath(new) for new, old in moved.items()}
            )

    def _entry(self, name: str, stat: os.stat_result | None = None) -> FileEntry:
        quoted = encode_basestring_ascii(name)
        if (known := self._known(quoted, name, stat)) is not None:
            return known
        with self._lock:
            busy = self._busy.setdefault(quoted, threading.Lock())
        with busy:  # a second thread waits here, and then knows
            with self._lock:  # another process may have hashed it meanwhile
                self._read_on()
            return self._known(quoted, name) or self._hash(quoted, name)

    def _read_on(self) -> index_file.Entries:
        """Read the index, or what was appended to it since; with the lock held."""
        found, self._end = index_file.load(self._path, self._end)
        if self._entries is None:
            self._entries = found
        else:
            self._entries.update(found)
        return self._entries

    def _known(
        self, quoted: str, name: str, stat: os.stat_result | None = None
    ) -> FileEntry | None:
        entries = self._entries
        if entries is None:
            with self._lock:
                entries = self._entries or self._read_on()
        stat = stat or os.stat(name)
        if not stat_module.S_ISREG(stat.st_mode):  # opening a pipe would hang
            raise OSError(errno.EINVAL, "not a regular file", name)
        if (found := entries.get(quoted)) is None:
            return None
        digest = index_file.digest_in(found, quoted, identity(stat))
        return None if digest is None else {"digest": digest, "size": stat.st_size}

    def _hash(self, quoted: str, name: str) -> FileEntry:
        entry, state = self._read(name)
        if state is not None:
            self._note({quoted: (state, entry["digest"])})
        return entry

    def _read(self, name: str) -> tuple[FileEntry, str | None]:
        """Digest a file; also returns its state, if it may be remembered."""
        file = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._wait(os.fstat(file).st_ctime_ns)
            before = os.fstat(file)
            self._on_unknown(self, before.st_size)
            is_recent = self._is_recent(before.st_ctime_ns)
            seen = look(file) if before.st_size >= LARGE else None
            twin = None if seen is None else self._twins.digest_of(file, seen)
            digest = twin or self._hashed(file)
            after = os.fstat(file)
            is_certain = not is_recent and identity(before) == identity(after)
            if seen is not None and is_certain:
                self._twins.note(seen, name, identity(after), digest)
        finally:
            os.close(file)
        entry: FileEntry = {"digest": digest, "size": after.st_size}
        return entry, identity(after) if is_certain else None

    def _hashed(self, file: int) -> str:
        import hashlib

        digest = hashlib.sha256()
        buffer = self._buffer()
        while count := os.readv(file, [buffer]):
            digest.update(buffer[:count])
        with self._lock:
            self.hashed_files += 1
        return PREFIX + digest.hexdigest()

    def _buffer(self) -> memoryview:
        """Return this thread's buffer: a new one costs as much as to read a small file."""
        buffer: memoryview | None = getattr(self._buffers, "own", None)
        if buffer is None:
            buffer = self._buffers.own = memoryview(bytearray(CHUNK))
        return buffer

    def _note(self, known: Mapping[str, tuple[str, str]]) -> None:
        entries = {name: index_file.entry(name, *known[name]) for name in known}
        with self._lock:
            (self._entries or self._read_on()).update(entries)
            index_file.append(self._path, entries)

    def _margin(self, ctime_ns: int) -> int:
        """Age in ns below which a further change could leave the same ctime."""
        whole_seconds = ctime_ns % _SECOND == 0  # a file system that keeps no more
        return 2 * (_SECOND if whole_seconds else self._tick)

    def _is_recent(self, ctime_ns: int) -> bool:
        # A ctime far ahead is from before the clock was set back: no tick will repeat it.
        return abs(self._clock() - ctime_ns) <= self._margin(ctime_ns)

    def _wait(self, ctime_ns: int) -> None:
        margin = self._margin(ctime_ns)
        left = margin - (self._clock() - ctime_ns)
        if 0 <= left <= 2 * margin and margin <= 4 * self._tick:
            self._sleep((left + 1) / _SECOND)
