"""Which files are inputs: the innermost known folder around a file decides."""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from enum import Enum
from importlib.util import source_from_cache
from typing import TYPE_CHECKING

from ascendflow.reads.distributions import METADATA
from ascendflow.reads.names import PACKAGE, WORK_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ascendflow.reads.names import Places

SYSTEM = (
    *("/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys"),
    *("/usr", "/Library", "/System"),
)
CODE = (".py", ".pyc")


class Kind(Enum):
    """What a file is to a record."""

    INPUT = "digested"
    IGNORED = "not an input"
    INSTALLED = "named by its distribution"
    OUTSIDE = "an error"


class Territory:
    """Sorts resolved paths into kinds.

    A table of folders, the innermost of which decides: so a repository below /tmp holds
    inputs, and a `.venv` in that repository does not.
    """

    def __init__(self, places: Places, own: Iterable[Path] = ()) -> None:
        """Build the table.

        Args:
            places: where inputs lie.
            own: files and folders that are in the key by role, or made by the child.
        """
        self.places = places
        self._inputs = {str(places.folder), str(places.repository)}
        self._inputs |= {str(root) for root in places.roots.values()}
        self._has_inputs: dict[str, bool] = {}
        self._import_path = set(map(os.path.realpath, sys.path))
        # Of two entries for one folder the later holds.
        self._table = dict.fromkeys(_of_system_and_python(), Kind.IGNORED)
        self._table |= dict.fromkeys(site_folders(), Kind.INSTALLED)
        self._table |= dict.fromkeys(self._inputs, Kind.INPUT)
        self._table |= dict.fromkeys(self.skipped(), Kind.IGNORED)
        self._table[str(PACKAGE)] = Kind.INPUT
        self._table |= dict.fromkeys(map(os.path.realpath, own), Kind.IGNORED)

    def skipped(self) -> list[str]:
        """Return the repository's work folders, resolved: they may be links elsewhere."""
        return [os.path.realpath(self.places.repository / name) for name in WORK_FOLDERS]

    def kind(self, real: str) -> Kind:
        """Return what the file or folder at a resolved path is."""
        place, kind = real, self._table.get(real)
        while kind is None and place != (outer := os.path.dirname(place)):
            place, kind = outer, self._table.get(outer)
        if kind is None:
            return Kind.IGNORED if self._is_metadata(real) else Kind.OUTSIDE
        if kind is not Kind.INPUT:
            return kind
        parts = real[len(place) :].split("/")
        if "__pycache__" in parts or ".git" in parts:
            return Kind.IGNORED
        if place == str(PACKAGE) and real.endswith(CODE):
            return Kind.IGNORED  # the code digest covers it
        return Kind.INPUT

    def _is_metadata(self, real: str) -> bool:
        """Whether a path lies in the metadata of a distribution that Python finds.

        That of an editable install is beside its code, and a search for entry points
        opens every distribution's.
        """
        place = real
        while not place.endswith(METADATA) and place != os.path.dirname(place):
            place = os.path.dirname(place)
        return place.endswith(METADATA) and os.path.dirname(place) in self._import_path

    def user_name(self, path: str) -> str | None:
        """Return a user file's path below the repository, or its name; else None."""
        real = os.path.realpath(path)
        if not os.path.isfile(real) or self.kind(real) is not Kind.INPUT:
            return None
        below = os.path.relpath(real, self.places.repository)
        return self.places.name(real) if below.startswith("..") else below

    def is_user_file(self, path: str) -> bool:
        """Whether a source file, links unresolved, is an input; asked for every import."""
        folder = os.path.dirname(path)
        if folder not in self._has_inputs:
            kind = self.kind(os.path.realpath(folder))
            self._has_inputs[folder] = kind is Kind.INPUT
        return self._has_inputs[folder] and self.kind(os.path.realpath(path)) is Kind.INPUT


def source_of(path: str) -> str:
    """Return the source of a .pyc in `__pycache__`, any other path as it is.

    A process that runs a user's module from its .pyc opens no source.
    """
    if path.endswith(".pyc") and "/__pycache__/" in path:
        try:
            return source_from_cache(path)
        except ValueError:
            return path
    return path


def site_folders() -> list[str]:
    """Return the resolved folders that pip installs into."""
    names = ("site-packages", "dist-packages")
    return [
        os.path.realpath(entry) for entry in sys.path if os.path.basename(entry) in names
    ]


def _of_system_and_python() -> Iterator[str]:
    yield from SYSTEM
    yield os.path.realpath(tempfile.gettempdir())
    yield from map(os.path.realpath, {sys.prefix, sys.base_prefix, sys.exec_prefix})
    for name in ("stdlib", "platstdlib"):
        yield os.path.realpath(sysconfig.get_path(name))
