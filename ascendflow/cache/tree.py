"""The files of an artifact: one file, or a folder with all that is below it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from ascendflow.cache.digest import digest_bytes, digest_tree
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.documents.record import FileEntry, Output

EMPTY = digest_bytes(b"")
"""Stands for an empty folder, so that it is there again after a restore."""


def is_folder(relative: str) -> bool:
    """Whether a path of an artifact stands for an empty folder and not for a file."""
    return relative.endswith("/")


def files_of(path: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """List an artifact: (path relative to it, full path), sorted in each folder.

    A file has the one relative path ""; an empty folder below ends with "/".

    Raises:
        OSError: nothing is there.
        AscendflowError: a symbolic link, pipe or device is part of it: a copy would not
            be the same, or lead out of the store.
    """
    top = os.fspath(path)
    mode = os.lstat(top).st_mode
    if stat.S_ISDIR(mode):
        yield from _below(top, "")
    elif stat.S_ISREG(mode):
        yield "", top
    else:
        raise _strange(top)


def why_unsafe(relative: str) -> str | None:
    """Return why a record's path could lead out of its artifact, or None."""
    parts = relative.removesuffix("/").split("/")
    if relative and any(part in ("", ".", "..") or "\0" in part for part in parts):
        return f"{relative!r} is no plain relative path"
    return None


def output_of(files: Mapping[str, FileEntry]) -> Output:
    """Put the entry of a record together from the files of one artifact."""
    digest = digest_tree({relative: entry["digest"] for relative, entry in files.items()})
    return {"digest": digest, "files": dict(files)}


def _below(folder: str, prefix: str) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            inner = prefix + entry.name + "/"
            is_empty = True
            for found in _below(entry.path, inner):
                is_empty = False
                yield found
            if is_empty:
                yield inner, entry.path
        elif entry.is_file(follow_symlinks=False):
            yield prefix + entry.name, entry.path
        else:
            raise _strange(entry.path)


def _strange(path: str) -> AscendflowError:
    kind = "a symbolic link" if os.path.islink(path) else "neither a file nor a folder"
    return AscendflowError(
        f"cache: {path} is {kind}; an artifact holds files and folders only",
        hint="let the stage write a plain file there",
    )
