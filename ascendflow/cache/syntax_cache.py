"""Remembers what was parsed, by the content of the file, across runs."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ascendflow.cache import syntax
from ascendflow.cache.digest import digest_bytes
from ascendflow.cache.files import write_bytes
from ascendflow.cache.syntax import Import, Syntax
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from ascendflow.cache.index import Index

MOST = 2000
"""Contents that are kept; beyond, only those of this run."""


class SyntaxCache:
    """Content digest -> syntax; a damaged file counts as empty."""

    def __init__(self, path: str | os.PathLike[str], index: Index) -> None:
        self._path = os.fspath(path)
        self._index = index
        self._used: dict[str, Syntax] = {}
        self._stored: dict[str, list[Any]] | None = None
        self._header: list[str] = []

    def of(self, path: str) -> Syntax:
        """Return the syntax of one file, parsed only if its content is new.

        Raises:
            AscendflowError: it is not Python, not there, or edited at this moment.
        """
        try:
            content = self._index.digest(path)
        except OSError as error:
            raise AscendflowError(f"code: cannot read {path}: {error.strerror}") from error
        if content not in self._used:
            self._used[content] = self._stored_syntax(content) or self._parse(path, content)
        return self._used[content]

    def save(self) -> None:
        """Write what is new. A folder that cannot be written to is no error."""
        stored = self._stored or {}
        if self._used.keys() <= stored.keys():
            return
        kept = stored if len(stored) < MOST else {}
        entries = kept | {content: list(found) for content, found in self._used.items()}
        self._stored = entries
        document = {"header": self._header, "entries": entries}
        with suppress(AscendflowError):
            write_bytes(self._path, json.dumps(document).encode("ascii"))

    def _stored_syntax(self, content: str) -> Syntax | None:
        if self._stored is None:
            self._stored = self._load()
        found = self._stored.get(content)
        return None if found is None else _decoded(found)

    def _parse(self, path: str, content: str) -> Syntax:
        with open(path, "rb") as file:
            source = file.read()
        if digest_bytes(source) != content:  # else it would be kept as that of the old
            raise AscendflowError(f"code: {path} was edited just now", hint="run again")
        return syntax.read_syntax(source, path)

    def _load(self) -> dict[str, list[Any]]:
        # Another Python unparses differently, as may another version of our parser.
        self._header = [sys.version, self._index.digest(syntax.__file__)]
        try:
            with open(self._path, "rb") as file:
                document = json.load(file)
            if document["header"] == self._header:
                return dict(document["entries"])
        except (OSError, ValueError, TypeError, KeyError):
            pass
        return {}


def _decoded(stored: list[Any]) -> Syntax | None:
    try:
        digest, imports, defined = stored
        return Syntax(digest, [Import(*found) for found in imports], defined)
    except (TypeError, ValueError):
        return None
