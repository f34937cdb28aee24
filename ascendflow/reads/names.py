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

WORK_FOLDERS = ("build", ".ascendflow", ".git", ".venv")
"""Folders at the top of a repository that are no input."""


class Places(NamedTuple):
    """The folders that inputs may lie in, symbolic links resolved.

    Attributes:
        folder: the model's pipeline folder.
        repository: the folder of pyproject.toml.
        roots: name -> folder, as declared in `[tool.ascendflow] roots`.
    """

    folder: Path
    repository: Path
    roots: Mapping[str, Path] = MappingProxyType({})

    def name(self, path: str | Path) -> str | None:
        """Return the name of an absolute, normalised path, or None if it is elsewhere.

        The pipeline folder goes before the repository, that before a root, and the
        inner of two roots before the outer.
        """
        text = os.fspath(path)
        for prefix, place in self._in_order():
            if text == place:
                return f"{prefix}:."
            if text.startswith(place.rstrip("/") + "/"):
                return f"{prefix}:{text[len(place.rstrip('/')) + 1 :]}"
        return None

    def resolve(self, name: str) -> Path:
        """Return the path of a name.

        Raises:
            KeyError: no place is called so, e.g. a root that is no longer declared.
        """
        prefix, _, relative = name.partition(":")
        ours = {
            "ascendflow": PACKAGE,
            "pipeline": self.folder,
            "repository": self.repository,
        }
        return (ours.get(prefix) or self.roots[prefix]) / relative

    def _in_order(self) -> Iterator[tuple[str, str]]:
        yield "ascendflow", str(PACKAGE)
        yield "pipeline", str(self.folder)
        yield "repository", str(self.repository)
        inner_first = sorted(
            self.roots.items(), key=lambda root: (-len(root[1].parts), root[0])
        )
        for prefix, place in inner_first:
            yield prefix, str(place)
