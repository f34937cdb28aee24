"""Upkeep of a store: read everything and say what is wrong; free what nobody needs."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.cache.digest import PREFIX, digest_file
from ascendflow.cache.files import explained
from ascendflow.cache.lock import remove_if_free
from ascendflow.cache.record import load_record
from ascendflow.cache.staleness import StaleReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.cache.store import Store
    from ascendflow.documents.record import Record

GRACE_S = 3600.0
"""Age below which everything is kept: its build may still run, and name it later."""


class Problem(NamedTuple):
    """What is wrong with one file of a store."""

    path: str
    problem: str
    is_removed: bool

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.path}: {self.problem}{', removed' if self.is_removed else ''}"


class Freed(NamedTuple):
    """What `gc` deleted, or would delete: paths, and the bytes they take."""

    records: list[str]
    blobs: list[str]
    size_bytes: int

    def __str__(self) -> str:
        """Say it in one line."""
        records, blobs = len(self.records), len(self.blobs)
        counted = (
            f"{records} record{'s' * (records != 1)} and {blobs} blob{'s' * (blobs != 1)}"
        )
        return f"{counted}, {self.size_bytes / 1e6:.1f} MB"


def verify(store: Store, *, repair: bool = False) -> list[Problem]:
    """Read every blob and record and say what is wrong.

    Args:
        store: the store to read.
        repair: delete what is wrong; what it was made from is then executed again.
    """
    found: list[Problem] = []
    # Blobs first: a record that names one just removed is then seen to be broken.
    for problems in (_blob_problems, _record_problems):
        for path, problem in problems(store):
            found.append(Problem(path, problem, is_removed=repair and _is_unlinked(path)))
    return found


def gc(
    store: Store,
    *,
    keep: frozenset[str],
    keep_days: float,
    grace_s: float = GRACE_S,
) -> Freed:
    """Delete the records nobody used for long, and the blobs no record names.

    Safe while builds run: what was written or used lately stays. A build that finds a
    blob gone executes.

    Args:
        store: the store to prune.
        keep: keys of records, and digests of blobs, that stay whatever their age.
        keep_days: records used within that many days stay.
        grace_s: whatever was written or used within that many seconds stays.
    """
    named, old = _sorted_records(store, keep, max(keep_days * 86400, grace_s))
    blobs = [
        path
        for digest, path in store.blobs.files()
        if digest not in named and digest not in keep and _age_s(path) > grace_s
    ]
    blobs += [path for path in _files_in(store, "incoming") if _age_s(path) > grace_s]
    freed = Freed(old, blobs, sum(_size(path) for path in [*old, *blobs]))
    _delete(store, old, blobs, grace_s)
    return freed


def _sorted_records(
    store: Store, keep: frozenset[str], keep_s: float
) -> tuple[set[str], list[str]]:
    """Return the digests that staying records name, and the paths of the others."""
    named: set[str] = set()
    old: list[str] = []
    for path in store.record_files():
        if _key_in(path) in keep or _age_s(path) <= keep_s:
            record = load_record(path)
            if not isinstance(record, StaleReason):
                named.update(_digests_in(record))
        else:
            old.append(path)
    return named, old


def _delete(store: Store, records: list[str], blobs: list[str], grace_s: float) -> None:
    for path in records:  # before the blobs, so that none names what is gone
        if _is_unlinked(path):
            with suppress(OSError):  # its folder holds others
                os.rmdir(os.path.dirname(path))
    for path in blobs:
        if _age_s(path) > grace_s:  # a build may have come to need it meanwhile
            _is_unlinked(path)
    for path in _files_in(store, "locks"):
        if _age_s(path) > grace_s:
            remove_if_free(path)


def _blob_problems(store: Store) -> Iterator[tuple[str, str]]:
    for digest, path in store.blobs.files():
        if digest is None:
            yield path, "is no blob: its name is no digest"
            continue
        try:
            found = digest_file(path)
        except FileNotFoundError:  # collected meanwhile
            continue
        except OSError as error:
            yield path, f"cannot be read: {error.strerror}"
            continue
        if found != digest:
            yield path, f"is corrupt: its content now hashes to {found}"


def _record_problems(store: Store) -> Iterator[tuple[str, str]]:
    for path in store.record_files():
        record = load_record(path)
        if (problem := store.why_unusable(path, record)) is not None:
            yield path, problem
        elif not isinstance(record, StaleReason) and not store.is_whole(record):
            yield path, "names a blob that is missing"


def _digests_in(record: Record) -> Iterator[str]:
    for artifact in record["outputs"].values():
        yield from (entry["digest"] for entry in artifact["files"].values())


def _key_in(path: str) -> str:
    """Return the key that a record's file name stands for, be it one or not."""
    return PREFIX + os.path.basename(path).removesuffix(".json")


def _files_in(store: Store, folder: str) -> list[str]:
    path = os.path.join(store.root, folder)
    try:
        return [os.path.join(path, name) for name in sorted(os.listdir(path))]
    except FileNotFoundError:
        return []


def _age_s(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _is_unlinked(path: str) -> bool:
    """Delete a file; False if another process was first.

    Raises:
        AscendflowError: the store cannot be written to.
    """
    with explained(path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            return False
    return True
