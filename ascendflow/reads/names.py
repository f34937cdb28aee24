"""Names for files that are the same in every checkout: `pipeline:model.py`.

Pure: nothing here looks at a file.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of ascendflow itself; its data files are named `ascendflow:`."""

SOURCE = "source"
"""Role of the ONNX file that a manifest names; weights may lie beside it."""

BESIDE = "source folder"
"""Place of what lies beside that file; no root can be called so."""

WORK_FOLDERS = ("build", ".ascendflow", ".git", ".venv")
"""Folders at the top of a repository that are no input."""


class Places(NamedTuple):
    """The folders that inputs may lie in, symbolic links resolved.

    Attributes:
        folder: the model's pipeline folder.
        repository: the folder of pyproject.toml.
        roots: name -> folder, as declared in `[tool.ascendflow] roots`.
        beside: the folder of the ONNX file that the manifest names. Its stage finds the
            weights by that file, wherever it is, and so must whoever looks at them again:
            of two files with the same bytes, each has its own weights.
    """

    folder: Path
    repository: Path
    roots: Mapping[str, Path] = MappingProxyType({})
    beside: Path | None = None

    def name(self, path: str | Path) -> str | None:
        """Return the name of an absolute, normalised path, or None if it is elsewhere.

        What lies beside the source goes before the pipeline folder, that before the
        repository, that before a root, and the inner of two roots before the outer.
        """
        text = os.fspath(path)
        for prefix, place in self._in_order():
            if text == place:
                return f"{prefix}:."
            if text.startswith(place.rstrip("/") + "/"):
                return f"{prefix}:{text[len(place.rstrip('/')) + 1 :]}"
        return None

    def resolve(self, name: str) -> Path:
        """Return the path of a name; raises as `path` does."""
        return Path(self.path(name))

    def path(self, name: str) -> str:
        """Return the path of a name, as text.

        Raises:
            KeyError: no place is called so, e.g. a root that is no longer declared.
        """
        prefix, _, relative = name.partition(":")
        if prefix == "pipeline":
            place = self.folder
        elif prefix == "repository":
            place = self.repository
        elif prefix == BESIDE and self.beside is not None:
            place = self.beside
        else:
            place = PACKAGE if prefix == "ascendflow" else self.roots[prefix]
        return os.path.join(place, relative)

    def _in_order(self) -> Iterator[tuple[str, str]]:
        yield "ascendflow", str(PACKAGE)
        if self.beside is not None:
            yield BESIDE, str(self.beside)
        yield "pipeline", str(self.folder)
        yield "repository", str(self.repository)
        inner_first = sorted(
            self.roots.items(), key=lambda root: (-len(root[1].parts), root[0])
        )
        for prefix, place in inner_first:
            yield prefix, str(place)


def identity(stat: os.stat_result) -> str:
    """What tells two states of a file apart."""
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {stat.st_ino}"


def changed_ns(state: str) -> int:
    """Return when a file came into the state that `identity` spelled: its ctime."""
    return int(state.split()[2])
