"""Blobs: file contents by digest, read-only, never linked into a build folder.

A link would let whoever writes to `build/` write into the store; root does so even
through mode 0444.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from ascendflow.cache.copies import LARGE
from ascendflow.cache.digest import PREFIX, hex_of
from ascendflow.cache.files import (
    copy,
    copy_digesting,
    explained,
    make_parents,
    replacing,
)
from ascendflow.cache.incoming import drop, open_new
from ascendflow.cache.twins import look
from ascendflow.errors import CacheIntegrityError
from ascendflow.reads.names import identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.cache.copies import Copied, Copies
    from ascendflow.documents.record import FileEntry

StrPath = str | os.PathLike[str]


class Blobs:
    """The blobs of a store: `blobs/<ab>/<rest of the hex digits>`, mode 0444."""

    def __init__(self, store: str) -> None:
        self._root = os.path.join(store, "blobs")
        self._written: set[str] = set()
        self._looks: set[int] = set()
        self.incoming = os.path.join(store, "incoming")

    def path_of(self, digest: str) -> str:
        """Return where a blob is, or would be.

        Raises:
            ValueError: `digest` is none.
        """
        digits = hex_of(digest)
        return os.path.join(self._root, digits[:2], digits[2:])

    def has(self, digest: str) -> bool:
        """Whether a blob is there; whether it is intact shows when it is restored."""
        return os.path.isfile(self.path_of(digest))

    def add(
        self,
        path: StrPath,
        digest: str | None = None,
        *,
        heals: bool = False,
        copies: Copies | None = None,
    ) -> FileEntry:
        """Copy a file in, digesting it on the way unless its digest is known.

        Args:
            path: the file.
            digest: of its content, which is believed: what is restored is verified.
            heals: whether a blob that is there already is written anew, since it may be
                corrupt. One that this process wrote is not; else none is.
            copies: in which a copy may be under way.

        Raises:
            OSError: the file cannot be read.
            CacheIntegrityError: it was changed while it was copied.
            AscendflowError: the disk is full or the store cannot be written to.
        """
        source = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.fstat(source).st_size
            is_believed = not heals or digest in self._written
            if digest is not None and is_believed and self._is_there(digest, size):
                return {"digest": digest, "size": size}
            with explained(self.incoming):
                under_way = copies.take(os.fspath(path)) if copies is not None else None
                entry = self._add_open(source, os.fspath(path), digest, under_way)
            if size >= LARGE:
                self._looks.add(look(source))
            return entry
        finally:
            os.close(source)

    def seems_written(self, path: StrPath) -> bool:
        """Whether this process wrote a large blob that looks like a file; a guess, no more.

        Raises:
            OSError: the file cannot be read.
        """
        source = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return look(source) in self._looks
        finally:
            os.close(source)

    def restore(self, digest: str, target: StrPath) -> None:
        """Copy a blob out, verified on the way, replacing the file at `target`.

        Raises:
            CacheIntegrityError: the blob is missing or corrupt; a corrupt one is dropped.
            AscendflowError: the target cannot be written.
        """
        path = self.path_of(digest)
        try:
            blob = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise CacheIntegrityError(
                f"cache: blob {digest} is missing", hint="the stage that made it runs again"
            ) from error
        name = os.path.abspath(target)
        try:
            with explained(name):
                make_parents(name)
                with replacing(name) as temporary:
                    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                    found = _copy(blob, os.open(temporary, flags, 0o666))["digest"]
                    if found != digest:
                        self._drop(path, blob)
                        raise CacheIntegrityError(
                            f"cache: blob {digest} is corrupt (it now hashes to {found})",
                            hint="it was dropped; the stage that made it runs again",
                        )
        finally:
            os.close(blob)

    def files(self) -> Iterator[tuple[str | None, str]]:
        """List all files: (digest, or None for what is no blob; path)."""
        for folder, folders, names in os.walk(self._root):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                digest = PREFIX + os.path.basename(folder) + name
                try:
                    is_blob = self.path_of(digest) == path
                except ValueError:
                    is_blob = False
                yield (digest if is_blob else None), path

    def _add_open(
        self, source: int, path: str, digest: str | None, copied: Copied | None
    ) -> FileEntry:
        """Copy first, name later."""
        if copied and digest:
            temporary, before = copied
        else:
            before = identity(os.fstat(source))
            temporary, target = open_new(self.incoming)
        try:
            if copied and digest:
                entry: FileEntry = {"digest": digest, "size": os.stat(temporary).st_size}
            else:
                entry = _copy(source, target, digest)
            if identity(os.fstat(source)) != before:
                raise CacheIntegrityError(
                    f"cache: {path} changed while it was stored", hint="run again"
                )
            self._put(temporary, entry)
            self._written.add(entry["digest"])
        finally:
            drop(temporary)
        return entry

    def _put(self, temporary: str, entry: FileEntry) -> None:
        """Give a copy its name, also where one is there, which may be corrupt."""
        path = self.path_of(entry["digest"])
        os.chmod(temporary, 0o444)
        make_parents(path)
        try:
            os.replace(temporary, path)
        except PermissionError:  # somebody else's folder, in a shared store
            if not self._is_there(entry["digest"], entry["size"]):
                raise

    def _is_there(self, digest: str, size: int) -> bool:
        """Whether the blob need not be written; if so, keep `gc` from it for a while."""
        path = self.path_of(digest)
        try:
            if os.stat(path).st_size != size:  # torn by a power cut: write it anew
                return False
        except FileNotFoundError:
            return False
        with suppress(PermissionError):  # somebody else's, in a shared store
            os.utime(path)
        return True

    def _drop(self, path: str, corrupt: int) -> None:
        """Delete the blob that was read; not one that replaced it meanwhile."""
        with suppress(OSError):
            if os.path.samestat(os.stat(path), os.fstat(corrupt)):
                os.unlink(path)


def _copy(source: int, target: int, digest: str | None = None) -> FileEntry:
    """Copy, close the copy, and digest it unless its digest is known."""
    try:
        if digest is None:
            digest, size = copy_digesting(source, target)
        else:
            copy(source, target)
            size = os.fstat(target).st_size
    finally:
        os.close(target)
    return {"digest": digest, "size": size}
