"""Digest of a stage's code: its modules and every module of ours they import.

Found statically and transitively, imports inside functions included, those under
`if TYPE_CHECKING:` not. A package's `__init__` counts only where the package itself, or
a name defined in it, is imported. Names in strings are not followed: a registry of
"module:Class" loads one entry without making its siblings part of the digest.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.cache.digest import digest_json
from ascendflow.cache.syntax_cache import SyntaxCache
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ascendflow.cache.index import Index
    from ascendflow.cache.syntax import Import, Syntax


class CodeDigest(NamedTuple):
    """The digest of some modules, and the modules that are in it."""

    digest: str
    modules: frozenset[str]


class CodeDigests:
    """Digests of the code of one package.

    Args:
        package_root: its folder, e.g. `.../ascendflow`.
        index: knows which files changed.
        cache_file: where parsed files are remembered; disposable.
        package: its name, where that is not the folder's.
    """

    def __init__(
        self,
        package_root: str | os.PathLike[str],
        index: Index,
        cache_file: str | os.PathLike[str],
        *,
        package: str | None = None,
    ) -> None:
        self._root = os.path.abspath(package_root)
        self._package = package or os.path.basename(self._root)
        self._syntaxes = SyntaxCache(cache_file, index)
        self._files: dict[str, str | None] = dict(_modules(self._root, self._package))
        self._known: dict[str, tuple[str, frozenset[str]]] = {}
        self._digests: dict[tuple[str, ...], CodeDigest] = {}

    def of(self, modules: Iterable[str]) -> CodeDigest:
        """Digest `modules` and all that they import of the package.

        Raises:
            AscendflowError: a module is not there or cannot be parsed; names the file.
        """
        wanted = tuple(modules)
        if wanted not in self._digests:
            self._digests[wanted] = self._digest(wanted)
        return self._digests[wanted]

    def files_of(self, modules: Iterable[str]) -> Iterator[str]:
        """List the files that the digest of `modules` is made from; raises as it does."""
        for name in self.of(modules).modules:
            if (path := self._files[name]) is not None:
                yield path

    def _digest(self, modules: Iterable[str]) -> CodeDigest:
        found: dict[str, str] = {}
        open_ends = list(modules)
        while open_ends:
            name = open_ends.pop()
            if name not in found:
                found[name], imported = self._module(name)
                open_ends.extend(imported)
        self._syntaxes.save()
        return CodeDigest(digest_json(sorted(found.items())), frozenset(found))

    def _module(self, name: str) -> tuple[str, frozenset[str]]:
        if name not in self._known:
            path = self._files.get(name)
            if path is None:
                raise AscendflowError(
                    f"code: module {name} is not in {self._root}",
                    hint="name a module of the package that has a file",
                )
            syntax = self._syntaxes.of(path)
            imported = frozenset(self._imported(name, path, syntax))
            self._known[name] = (syntax.digest, imported)
        return self._known[name]

    def _imported(self, importer: str, path: str, syntax: Syntax) -> Iterator[str]:
        for statement in syntax.imports:
            module = self._absolute(importer, path, statement)
            if module != self._package and not module.startswith(self._package + "."):
                continue
            if module not in self._files:
                raise AscendflowError(
                    f"{path}:{statement.line}: imports {module}, not found in {self._root}"
                )
            yield from self._targets(module, statement.names)

    def _targets(self, module: str, names: list[str]) -> Iterator[str]:
        """Name the modules that `from module import names` takes something from."""
        submodules = [name for name in names if f"{module}.{name}" in self._files]
        for name in submodules:
            if self._files[f"{module}.{name}"] is not None:
                yield f"{module}.{name}"
        path = self._files[module]
        if path is None:  # a folder without __init__.py defines no name
            return
        is_itself_used = len(submodules) < len(names) or not names
        if is_itself_used or set(submodules) & set(self._syntaxes.of(path).defined):
            yield module

    def _absolute(self, importer: str, path: str, statement: Import) -> str:
        if statement.level == 0:
            return statement.module
        parts = importer.split(".")
        if os.path.basename(path) != "__init__.py":
            parts.pop()
        base = parts[: len(parts) - statement.level + 1]
        return ".".join([*base, statement.module] if statement.module else base)


def _modules(folder: str, name: str) -> Iterator[tuple[str, str | None]]:
    """List a package: (module, its file; None for a folder without `__init__.py`)."""
    init = os.path.join(folder, "__init__.py")
    yield name, init if os.path.exists(init) else None
    with os.scandir(folder) as scan:
        entries = list(scan)
    for entry in entries:
        stem, suffix = os.path.splitext(entry.name)
        if suffix == ".py" and stem != "__init__":
            yield f"{name}.{stem}", entry.path
        elif not suffix and entry.name != "__pycache__" and entry.is_dir():
            yield from _modules(entry.path, f"{name}.{entry.name}")
