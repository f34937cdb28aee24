"""What a child is told to do: the file that its parent writes for it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Spec:
    """One stage of one model, with every path absolute.

    Attributes:
        base: the spec's folder; `result.json` is written there.
        folder: the model's pipeline folder. It, `repository`, `roots` and `python_path`
            have their symbolic links resolved.
        modules: the ascendflow modules that the stage's code digest covers.
        python_path: goes before the rest of `sys.path`.
    """

    base: Path
    stage: str
    config: Mapping[str, Any]
    inputs: Mapping[str, Path]
    files: Mapping[str, Path]
    outputs: Mapping[str, Path]
    folder: Path
    repository: Path
    roots: Mapping[str, Path]
    seed: int
    modules: frozenset[str]
    python_path: tuple[Path, ...]

    @property
    def own(self) -> tuple[Path, ...]:
        """Paths whose content is in the key by role, or made here: never a read."""
        named = (self.inputs, self.files, self.outputs)
        return (self.base, *(path for paths in named for path in paths.values()))


def read_spec(path: Path) -> Spec:
    """Read a spec; its relative paths start at its own folder.

    Raises:
        InternalError: the parent wrote a spec of another version.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    if (version := document["schema_version"]) != SCHEMA_VERSION:
        raise InternalError(f"{path}: schema_version {version}, expected {SCHEMA_VERSION}")
    base = Path(os.path.abspath(path)).parent
    return Spec(
        base=base,
        stage=document["stage"],
        config=document["config"],
        inputs=_all(base, document["inputs"]),
        files=_all(base, document["files"]),
        outputs=_all(base, document["outputs"]),
        folder=_at(base, document["folder"]).resolve(),
        repository=_at(base, document["repository"]).resolve(),
        roots={
            name: path.resolve() for name, path in _all(base, document["roots"]).items()
        },
        seed=document["seed"],
        modules=frozenset(document["modules"]),
        python_path=tuple(_at(base, entry).resolve() for entry in document["python_path"]),
    )


def _at(base: Path, relative: str) -> Path:
    return Path(os.path.normpath(base / relative))


def _all(base: Path, relatives: Mapping[str, str]) -> dict[str, Path]:
    return {name: _at(base, relative) for name, relative in relatives.items()}
