"""Where the paths of a manifest lead, and where they may not."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow import atc_words, vocabulary
from ascendflow.errors import ManifestError
from ascendflow.manifest.problems import Problem, closest, closest_or_all, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.manifest.problems import Keys

ROOT = r"[A-Za-z][A-Za-z0-9_-]*"
LINKS_HINT = "check its symbolic links"
GLOB = re.compile(r"[*?\[]")

FILES: dict[Keys, tuple[tuple[str, ...], str]] = {
    ("source", "onnx"): (("export",), "source"),
    ("source", "torch", "module"): ((), ""),
    ("source", "torch", "weights", "file"): (("export", "golden"), "weights"),
    ("samples", "module"): ((), ""),
    ("evaluate", "module"): ((), ""),
    **{("convert", option): (("convert",), option) for option in atc_words.FILES},
    **{
        ("convert", option): (("rewrite", "lint", "convert"), option)
        for option in atc_words.PRECISION_FILES
    },
}
"""Key that names one file -> (stages that get it, its role there)."""

IF_AUTO = "rewrite"
"""A stage that gets files only where it chooses rules by the target."""


@dataclass(frozen=True)
class Places:
    """What paths are relative to, and must stay in.

    Attributes:
        folder: the pipeline's folder.
        repository: the folder of pyproject.toml and dodo.py.
        roots: further folders by name, written `name:path`.
    """

    folder: Path
    repository: Path
    roots: Mapping[str, Path]


class OutsideError(Exception):
    """A path leads where it may not; holds the words for a problem."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint


def read_roots(repository: Path) -> dict[str, Path]:
    """Read `[tool.ascendflow] roots` of pyproject.toml: name -> absolute folder.

    Raises:
        ManifestError: pyproject.toml cannot be read, or a root is no folder's name.
    """
    file = repository / "pyproject.toml"
    if not file.is_file():
        return {}
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ManifestError(f"pyproject.toml: cannot be read: {error}") from error
    table: Any = document
    for name in ("tool", "ascendflow", "roots"):
        table = table.get(name, {}) if isinstance(table, dict) else None
    where = "pyproject.toml: tool.ascendflow.roots"
    if not isinstance(table, dict):
        raise ManifestError(f"{where} must be a table of name = folder")
    return {name: _root(name, value, repository, where) for name, value in table.items()}


def _root(name: str, value: Any, repository: Path, where: str) -> Path:
    if not isinstance(value, str) or not value or not re.fullmatch(ROOT, name):
        raise ManifestError(
            f"{where}: {shown(name)} must name a folder, got {shown(value)}"
        )
    if name in vocabulary.PLACES:
        taken = ", ".join(vocabulary.PLACES)
        raise ManifestError(f"{where}: no root may be called {taken}, got '{name}'")
    try:
        root = repository / Path(value).expanduser()
        _resolved(root)
    except OutsideError as error:
        raise ManifestError(f"{where}: '{name}' {error.text}", hint=error.hint) from error
    except RuntimeError as error:  # ~ of nobody
        raise ManifestError(f"{where}: '{name}': {error}") from error
    return root


def locate(written: str, places: Places) -> Path:
    """Return the absolute path that `written` leads to, symbolic links followed.

    Raises:
        OutsideError: that is neither in the repository nor below a root, or the root is
            unknown.
    """
    unresolved = spelled_out(written, places)
    name, colon, _ = written.partition(":")
    inside = places.roots[name] if colon else places.repository
    path = _resolved(unresolved)
    if path.is_relative_to(_resolved(inside)):
        return path
    what = f"the root '{name}'" if colon else "the repository"
    raise OutsideError(f"leads out of {what}, to {path}", vocabulary.A_ROOT)


def spelled_out(written: str, places: Places) -> Path:
    """Return the absolute path that is `written`, symbolic links not followed.

    Raises:
        OutsideError: the root that it names is unknown.
    """
    name, colon, below = written.partition(":")
    if not colon:
        return places.folder / written
    if name not in places.roots:
        hint = closest_or_all(name, places.roots)
        raise OutsideError(f"names the root {shown(name)}, which is not known", hint)
    return places.roots[name] / below


def _resolved(path: Path) -> Path:
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL
        raise OutsideError(f"cannot be followed: {error}", LINKS_HINT) from error
    if os.path.islink(resolved):  # so Python 3.13 leaves a loop, without a word
        raise OutsideError("cannot be followed: a loop of symbolic links", LINKS_HINT)
    return resolved


def path_problems(data: Any, places: Places) -> Iterator[Problem]:
    """Judge each path of the manifest: stays where it may, and is there."""
    for keys in FILES:
        written = lookup(data, keys)
        if isinstance(written, str) and written:
            yield from _file_problems(keys, written, places)
    rules = lookup(data, ("rewrite", "rules"))
    for index in range(len(rules) if isinstance(rules, list) else 0):
        keys = ("rewrite", "rules", index, "file")
        written = lookup(data, keys)
        if isinstance(written, str) and written:
            yield from _file_problems(keys, written, places)
    globs: list[tuple[Keys, Any]] = [
        (("samples", "files"), lookup(data, ("samples", "files")))
    ]
    reads = lookup(data, ("samples", "reads"))
    if isinstance(reads, list):
        globs += [(("samples", "reads", i), glob) for i, glob in enumerate(reads)]
    for keys, written in globs:
        if isinstance(written, str) and written:
            yield from _glob_problems(keys, written, places)


def _file_problems(keys: Keys, written: str, places: Places) -> Iterator[Problem]:
    got = f", got {shown(written)}"
    try:
        path = locate(written, places)
        if path.is_file():
            return
        text = "must be a file" if path.exists() else "does not exist"
        folder = path.parent
        siblings = [each.name for each in folder.iterdir()] if folder.is_dir() else []
        where = None if ":" in written else "it is looked for beside the manifest"
        yield Problem(keys, text + got, closest(path.name, sorted(siblings)) or where)
    except OutsideError as error:
        yield Problem(keys, error.text + got, error.hint)
    except OSError as error:  # a name too long, a folder that may not be entered
        yield Problem(keys, f"cannot be looked at: {error.strerror}{got}")


def _glob_problems(keys: Keys, written: str, places: Places) -> Iterator[Problem]:
    """Judge what stands before the first wildcard; behind it nothing may go up."""
    parts = written.split("/")
    fixed = next((i for i, part in enumerate(parts) if GLOB.search(part)), len(parts) - 1)
    if ".." in parts[fixed:]:
        yield Problem(keys, f"goes up behind a wildcard, got {shown(written)}")
        return
    prefix = "/".join(parts[:fixed])
    root, colon, _ = parts[fixed].partition(":")
    try:
        locate(prefix or (f"{root}:" if colon else "."), places)
    except OutsideError as error:
        yield Problem(keys, f"{error.text}, got {shown(written)}", error.hint)


def block(data: Any, key: str) -> dict[str, Any]:
    """Return a block's keys that say something; `key:` and nothing behind it does not."""
    found = lookup(data, (key,))
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if value is not None}


def lookup(data: Any, keys: Keys) -> Any:
    """Follow keys through raw data; None where they lead nowhere."""
    for key in keys:
        if isinstance(key, str) and isinstance(data, dict):
            data = data.get(key)
        elif isinstance(key, int) and isinstance(data, list) and key < len(data):
            data = data[key]
        else:
            return None
    return data
