"""Hashes what a run will ask for, on a second core, once one large file is not known.

That is so after a cache was restored or a checkout copied: every file has another mtime,
and all of them are hashed anew.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from ascendflow.cache.index import LARGE
from ascendflow.plan import named
from ascendflow.vocabulary import BACKENDS, STAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ascendflow.cache.index import Index


class Ahead:
    """Hashes the outputs of runs from the last one back, until it meets who needs them.

    The index lets the two meet: who asks for a file that the other is at waits for it.
    """

    def __init__(self, build: str) -> None:
        self._build = build
        self._runs: Callable[[], Iterable[str]] = tuple
        self._begun = threading.Lock()

    def expect(self, runs: Callable[[], Iterable[str]]) -> None:
        """Say who knows which runs will be asked for."""
        self._runs = runs

    def begin(self, index: Index, size: int) -> None:
        """Begin, once, when a file of `size` bytes turns out not to be known."""
        if (
            size < LARGE or self._begun.locked()
        ):  # to name the runs takes a look at all tasks
            return
        runs = sorted(self._runs(), reverse=True)
        if runs and self._begun.acquire(blocking=False):
            with suppress(RuntimeError):  # no more threads: then nothing is hashed ahead
                threading.Thread(target=self._hash, args=(index, runs), daemon=True).start()

    def _hash(self, index: Index, runs: Sequence[str]) -> None:
        for path in self._large_files(runs):
            with suppress(OSError):  # gone meanwhile: nobody will ask for it
                index.digest(path)

    def _large_files(self, runs: Sequence[str]) -> Iterator[str]:
        for run in runs:
            for kind in reversed(STAGES):
                for branch in (*BACKENDS, ""):
                    yield from _files_of(f"{self._build}/{run}/{named(kind, branch)}")


def _files_of(stage: str) -> Iterator[str]:
    for folder, _, names in os.walk(stage):
        for name in names:
            path = os.path.join(folder, name)
            with suppress(OSError):
                if os.lstat(path).st_size >= LARGE:
                    yield path
