"""The store: artifacts by digest and records by base, shared by all builds of a checkout.

    blobs/<ab>/<rest of the hex>                           contents, mode 0444
    records/<base ab>/<base hex>/<key hex>.json            what was built from what
    incoming/                                              blobs being written
    locks/<base hex>.lock

Whatever is written is written beside and renamed, so equal writes at once do no harm.
Whatever is read is verified, so damage costs an execution and nothing more.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from ascendflow.cache.blobs import Blobs
from ascendflow.cache.copies import copies_of
from ascendflow.cache.digest import hex_of
from ascendflow.cache.files import beside, explained, make_parents, put_in_place, remove
from ascendflow.cache.lock import hold, this_process
from ascendflow.cache.record import load_record, save_record
from ascendflow.cache.staleness import StaleReason
from ascendflow.cache.tree import files_of, is_folder, why_unsafe
from ascendflow.errors import CacheIntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from ascendflow.cache.copies import Copies
    from ascendflow.cache.upkeep import Freed, Problem
    from ascendflow.documents.record import FileEntry, Record

StrPath = str | os.PathLike[str]


class Store:
    """A content-addressed store in one folder; safe with threads and other processes."""

    def __init__(self, root: StrPath) -> None:
        self.root = os.path.abspath(root)
        self.blobs = Blobs(self.root)

    def has(self, digest: str) -> bool:
        """Whether a blob is there; whether it is intact shows when it is restored."""
        return self.blobs.has(digest)

    def add_file(self, path: StrPath, digest: str | None = None) -> str:
        """Copy a file in and return its digest; a known `digest` saves reading it.

        Raises:
            OSError: the file cannot be read.
            CacheIntegrityError: it was changed while it was copied.
            AscendflowError: the disk is full or the store cannot be written to.
        """
        return self.blobs.add(path, digest)["digest"]

    def copying(self, path: StrPath) -> AbstractContextManager[Copies]:
        """Begin to copy an artifact; the block digests it and then adds it.

        Raises:
            OSError: nothing is there.
            AscendflowError: a symbolic link, pipe or device is part of it.
        """
        full = (full for relative, full in files_of(path) if not is_folder(relative))
        return copies_of(full, self.blobs.incoming, unless=self.blobs.seems_written)

    def add(
        self, path: StrPath, files: Mapping[str, FileEntry], copies: Copies | None = None
    ) -> None:
        """Take an artifact in, a file or a folder, of which `Index.tree` gave `files`.

        Blobs that are there already are healed, should they be corrupt.

        Args:
            path: the artifact.
            files: its contents.
            copies: those that are already under way.

        Raises:
            CacheIntegrityError: a file was changed while it was copied.
            AscendflowError: the disk is full or the store cannot be written to.
        """
        for relative, entry in files.items():
            if not is_folder(relative):
                full = os.path.join(path, relative) if relative else path
                self.blobs.add(full, entry["digest"], heals=True, copies=copies)

    def restore_file(self, digest: str, target: StrPath) -> None:
        """Copy a blob out, verified on the way, replacing the file at `target`.

        Raises:
            CacheIntegrityError: the blob is missing or corrupt; a corrupt one is dropped.
            AscendflowError: the target cannot be written.
        """
        self.blobs.restore(digest, target)

    def restore(self, files: Mapping[str, FileEntry], target: StrPath) -> None:
        """Copy an artifact out, verified; `target` is replaced whole or not at all.

        Raises:
            CacheIntegrityError: a blob is missing or corrupt.
            AscendflowError: the target cannot be written.
        """
        name = os.path.abspath(target)
        temporary = beside(name)
        try:
            with explained(name):
                self._fill(files, temporary)
                put_in_place(temporary, name)
        finally:
            remove(temporary)

    def put_record(self, record: Record) -> Record:
        """Keep a record, and return the one that holds for its key.

        That is an older one if it is whole: then a difference between the outputs of
        the two is non-determinism, and the caller's to report.

        Raises:
            AscendflowError: the disk is full or the store cannot be written to.
        """
        path = self.record_path(record["base"], record["key"])
        older = load_record(path)
        if not isinstance(older, StaleReason) and self.is_whole(older):
            self.touch(older)
            return older
        save_record(record, path)
        return record

    def records(
        self, base: str, *, on_problem: Callable[[str], None] | None = None
    ) -> Iterator[Record]:
        """Yield the records of a base, the most recently used one first.

        Args:
            base: digest of a fingerprint.
            on_problem: told of each record that cannot be used, and why.
        """
        folder = os.path.dirname(self.record_path(base, base))
        for path in _newest_first(folder):
            record = load_record(path)
            problem = self.why_unusable(path, record)
            if not isinstance(record, StaleReason) and problem is None:
                yield record
            elif on_problem is not None:
                on_problem(f"{path}: {problem}")

    def why_unusable(self, path: str, record: Record | StaleReason) -> str | None:
        """Return why what was loaded from `path` is no record of that place, or None."""
        if isinstance(record, StaleReason):
            return str(record)
        if path != self.record_path(record["base"], record["key"]):
            return f"belongs elsewhere: its key is {record['key']}"
        return None

    def touch(self, record: Record) -> None:
        """Note that a record was used, which keeps `gc` from it."""
        with suppress(OSError):
            os.utime(self.record_path(record["base"], record["key"]))

    def is_whole(self, record: Record) -> bool:
        """Whether all blobs of a record are there."""
        return all(
            is_folder(relative) or self.has(entry["digest"])
            for artifact in record["outputs"].values()
            for relative, entry in artifact["files"].items()
        )

    def lock(
        self, base: str, *, on_wait: Callable[[str], None] | None = None
    ) -> AbstractContextManager[None]:
        """Hold the lock of one base, so that one builds it and others then restore it.

        Args:
            base: digest of a fingerprint.
            on_wait: told who holds it, once a second was waited in vain.
        """
        path = os.path.join(self.root, "locks", f"{hex_of(base)}.lock")
        return hold(path, note=this_process(), on_wait=on_wait, patience_s=1.0)

    def verify(self, *, repair: bool = False) -> list[Problem]:
        """Read everything and say what is wrong; see `upkeep.verify`."""
        from ascendflow.cache import upkeep

        return upkeep.verify(self, repair=repair)

    def gc(self, keep: Iterable[str], *, keep_days: float) -> Freed:
        """Free what nobody needs; see `upkeep.gc`."""
        from ascendflow.cache import upkeep

        return upkeep.gc(self, keep=frozenset(keep), keep_days=keep_days)

    def record_path(self, base: str, key: str) -> str:
        """Return where a record is, or would be."""
        digits = hex_of(base)
        return os.path.join(self.root, "records", digits[:2], digits, f"{hex_of(key)}.json")

    def record_files(self) -> Iterator[str]:
        """List the paths of all records, and of what else lies among them."""
        for folder, folders, names in os.walk(os.path.join(self.root, "records")):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names))

    def _fill(self, files: Mapping[str, FileEntry], target: str) -> None:
        make_parents(target)
        if "" in files:
            self.blobs.restore(files[""]["digest"], target)
            return
        os.mkdir(target)
        for relative, entry in files.items():
            if (reason := why_unsafe(relative)) is not None:
                raise CacheIntegrityError(f"cache: restore of {target}: {reason}")
            full = os.path.join(target, relative)
            if is_folder(relative):
                os.makedirs(full, exist_ok=True)
            else:
                self.blobs.restore(entry["digest"], full)


def _newest_first(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as scan:
            found = [
                (-entry.stat().st_mtime_ns, entry.path)
                for entry in scan
                if entry.name.endswith(".json")
            ]
    except FileNotFoundError:
        return []
    return [path for _, path in sorted(found)]
