"""The source files of a package, and digests that hold while none of them changes.

An up-to-date run asks for a dozen digests that depend on every file. To find that no file
changed takes one `stat` each; to put the digests together again takes twenty times that.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ascendflow.cache.digest import digest_json
from ascendflow.cache.files import write_disposable
from ascendflow.errors import AscendflowError
from ascendflow.reads.names import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SETTLED_NS = 2_000_000_000
"""Age from which a further change of a file shows in its ctime on every file system."""


class Sources:
    """The Python files of one folder as they were when this was made.

    Args:
        folder: a package.
        digests_file: where digests are kept; disposable.

    Attributes:
        files: their paths, relative to the folder.
    """

    def __init__(self, folder: str, digests_file: str | os.PathLike[str]) -> None:
        self._folder = folder
        self._path = os.fspath(digests_file)
        self._digests: dict[str, str] | None = None
        self._latest_ns = 0
        self._read_ns = time.time_ns()
        self._states = dict(self._scan())
        self.files = sorted(self._states)
        self._state = digest_json([sys.version, folder, self._states])

    def digest(self, name: str, make: Callable[[], str]) -> str:
        """Return what `make` returned the last time, if no file changed since."""
        if self._digests is None:
            self._digests = self._load()
        if name not in self._digests:
            self._digests[name] = make()
            self._save(self._digests)
        return self._digests[name]

    def are_as_they_were(self, files: Iterable[str]) -> bool:
        """Whether some of the files, by their full paths, are still what is imported."""
        return all(map(self._is_as_it_was, files))

    def _is_as_it_was(self, file: str) -> bool:
        """Whether `stat` says the same, and no package took the module's place."""
        package = f"{file.removesuffix('.py')}/__init__.py"
        try:
            now = identity(os.stat(file))
        except OSError:
            return False
        before = self._states.get(file[len(self._folder) + 1 :])
        return now == before and not os.path.lexists(package)

    def _scan(self) -> Iterator[tuple[str, str]]:
        """List each file, and what `stat` says of it."""
        folders = [(self._folder, "")]
        for folder, prefix in folders:
            with os.scandir(folder) as scan:
                entries = list(scan)
            for entry in entries:
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    self._latest_ns = max(self._latest_ns, stat.st_ctime_ns)
                    yield prefix + entry.name, identity(stat)
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append((entry.path, f"{prefix}{entry.name}/"))

    def _load(self) -> dict[str, str]:
        try:
            with open(self._path, "rb") as file:
                document = json.loads(file.read())
            if document["state"] == self._state:
                return dict(document["digests"])
        except (OSError, ValueError, TypeError, KeyError):
            pass
        return {}

    def _save(self, digests: dict[str, str]) -> None:
        """Keep the digests, unless a file could yet change and look the same."""
        if self._latest_ns < self._read_ns - SETTLED_NS:
            document = {"state": self._state, "digests": digests}
            with suppress(AscendflowError):
                write_disposable(self._path, json.dumps(document).encode("ascii"))
