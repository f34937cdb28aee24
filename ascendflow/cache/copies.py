"""Copies of large files, made in a thread while their contents are digested."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.cache.files import CHUNK, copy
from ascendflow.cache.incoming import drop, open_new
from ascendflow.reads.names import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LARGE = 4 * CHUNK
"""Size in bytes from which a thread costs less than it saves."""


class Copied(NamedTuple):
    """A copy: its name, and the state of the file that it was begun from."""

    name: str
    state: str


class Copies:
    """Copies under way, one after the other."""

    def __init__(self, folder: str, paths: Iterable[str]) -> None:
        self._folder = folder
        self._paths = list(paths)
        self._names: list[str] = []
        self._made: dict[str, Copied] = {}
        self._is_wanted = True
        self._thread = Thread(target=self._make)

    def begin(self) -> None:
        """Start copying, where there is anything, and threads are to be had."""
        with suppress(RuntimeError):
            if self._paths:
                self._thread.start()

    def take(self, path: str) -> Copied | None:
        """Wait for the copy of a file; None where none is made, or none could be.

        What is added without one is copied then, which says what the matter is. On a disk
        that is nearly full it may do: what was added before has replaced what was there.
        """
        self._wait()
        return self._made.get(path)

    def end(self) -> None:
        """Stop what is under way, and remove every copy that was not given another name."""
        self._is_wanted = False
        self._wait()
        self._drop()

    def _drop(self) -> None:
        for name in list(self._names):
            drop(name)

    def _wait(self) -> None:
        if self._thread.ident is not None:  # it was started
            self._thread.join()

    def _make(self) -> None:
        with suppress(OSError):
            for path in self._paths:
                if self._is_wanted:
                    self._made[path] = self._copy(path)
        if not self._is_wanted:  # an interrupted start is not waited for
            self._drop()

    def _copy(self, path: str) -> Copied:
        source = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            state = identity(os.fstat(source))
            name, target = open_new(self._folder)
            self._names.append(name)
            try:
                copy(source, target, is_wanted=lambda: self._is_wanted)
            except OSError:
                drop(name)
                raise
            finally:
                os.close(target)
        finally:
            os.close(source)
        return Copied(name, state)


@contextmanager
def copies_of(
    paths: Iterable[str], folder: str, *, unless: Callable[[str], bool]
) -> Iterator[Copies]:
    """Begin to copy the large ones of some files into `folder`; the block takes them.

    Args:
        paths: the files.
        folder: of the copies.
        unless: tells which large ones are likely to need none.
    """
    large = (path for path in paths if os.path.getsize(path) >= LARGE)
    copies = Copies(folder, [path for path in large if not unless(path)])
    try:
        copies.begin()
        yield copies
    finally:
        copies.end()
