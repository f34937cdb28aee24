"""What a stage's child read, digested as it is now."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from ascendflow.cache.digest import digest_json
from ascendflow.cache.tools import versions
from ascendflow.errors import AscendflowError
from ascendflow.reads.names import WORK_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ascendflow.cache.index import Index
    from ascendflow.documents.record import Reads

    Resolve = Callable[[str], str | os.PathLike[str]]

MISSING = "missing"
"""Stands for the digest of a read that is gone, so that the key changes."""

TOP = "repository:."
"""Name of the one folder in which runs make folders of their own."""


def listing(folder: str | os.PathLike[str], *, is_top: bool = False) -> str:
    """Digest of the names in a folder; not of what is in the files.

    What Python's imports leave does not count, nor, at the top of the repository, the
    folders that runs work in. A data set may well have a class called `build`.

    Raises:
        OSError: no such folder.
    """
    ignored = {"__pycache__", *(WORK_FOLDERS if is_top else ())}
    return digest_json(sorted(set(os.listdir(folder)) - ignored))


def redigest(recorded: Reads, resolve: Resolve, index: Index) -> Reads:
    """Digest again what a record says was read.

    What is gone becomes "missing"; what was looked for in vain and is there by now
    leaves `missing`. Either way the key differs, and `compare_reads` says why.

    Args:
        recorded: the record's reads; only the names in it are used.
        resolve: name of a read -> its path now; KeyError where its root is gone.
        index: hashes the files that changed.

    Returns:
        What the record would hold if the same had been read now.
    """
    return {
        "files": {n: _or_missing(index.digest, resolve, n) for n in recorded["files"]},
        "folders": {
            n: _or_missing(partial(listing, is_top=n == TOP), resolve, n)
            for n in recorded["folders"]
        },
        "missing": [n for n in recorded["missing"] if _is_missing(resolve, n)],
        "distributions": versions((), optional=recorded["distributions"]),
    }


def digest_reads(names: Reads, resolve: Resolve, index: Index) -> Reads:
    """Digest what a child reports by name, for its record; values in `names` are ignored.

    Sorted, so that the order of reading is in no key. A name it looked for in vain stays
    in `missing` even if it is there by now: the next run then finds the record stale.

    Raises:
        AscendflowError: what it read is gone already, so its digest cannot be known.
        ToolNotFoundError: a distribution it imported is not installed here.
    """
    now = redigest(names, resolve, index)
    gone = [
        n for kind in (now["files"], now["folders"]) for n in kind if kind[n] == MISSING
    ]
    if gone:
        raise AscendflowError(
            f"reads: {', '.join(sorted(gone))} was read and is gone; nothing is recorded",
            hint="let nothing else change the sources while a stage runs",
        )
    return {
        "files": dict(sorted(now["files"].items())),
        "folders": dict(sorted(now["folders"].items())),
        "missing": sorted(set(names["missing"])),
        "distributions": versions(sorted(names["distributions"])),
    }


def _or_missing(
    digest: Callable[[str | os.PathLike[str]], str], resolve: Resolve, name: str
) -> str:
    try:
        return digest(resolve(name))
    except (OSError, KeyError):
        return MISSING


def _is_missing(resolve: Resolve, name: str) -> bool:
    try:
        return not os.path.lexists(resolve(name))
    except KeyError:
        return True
