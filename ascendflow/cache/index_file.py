"""The index on disk: one line per file, appended, each with its own checksum.

Several processes append at once: a line is one write to a file opened with O_APPEND.
A line that a crash cut short fails its checksum and is ignored, as is any damage. What
is lost costs one more hashing, so nothing is locked and nothing is synced.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress

from ascendflow.cache.files import replacing

Entries = dict[str, str]
"""File name as JSON -> "stat<tab>digest<tab>checksum"; see `entry` and `digest_in`."""

SLACK = 1000
"""Outdated lines that are tolerated before the file is written anew."""


def entry(name: str, stat: str, digest: str) -> str:
    """Spell what is known of one file; `stat` is "size mtime_ns ctime_ns inode"."""
    return f"{stat}\t{digest}\t{_checksum(name, stat, digest)}"


def digest_in(found: str, name: str, stat: str) -> str | None:
    """Return the digest of an entry if it is whole and of a file with that stat."""
    parts = found.split("\t")
    if len(parts) != 3 or parts[2] != _checksum(name, parts[0], parts[1]):
        return None
    return parts[1] if parts[0] == stat else None


def load(path: str, since: int = 0) -> tuple[Entries, int]:
    """Read the last line of each file; nothing where there is no index.

    Checksums are left for `digest_in`: most entries are never asked for.

    Args:
        path: the index.
        since: byte to begin at; a file that ends before it was written anew, and is
            read whole.

    Returns:
        The entries, and where their last line ends, which is where to begin next time.
    """
    try:
        with open(path, "rb") as file:
            start = since if since <= os.fstat(file.fileno()).st_size else 0
            file.seek(start)
            data = file.read()
    except OSError:
        return {}, 0
    whole = data.rfind(b"\n") + 1
    lines = data[:whole].decode("utf-8", "replace").split("\n")
    entries = dict(line.split("\t", 1) for line in lines if "\t" in line)
    if start == 0 and len(lines) > 2 * len(entries) + SLACK:
        _compact(path, entries)
    return entries, start + whole


def append(path: str, entries: Entries) -> None:
    """Add lines. A folder that cannot be written to is no error: nothing is remembered."""
    data = _lines(entries)
    with suppress(OSError):
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)


def _compact(path: str, entries: Entries) -> None:
    """Write the index anew, without the files that are gone."""
    living = {name: found for name, found in entries.items() if _is_there(name)}
    with suppress(OSError), replacing(path) as temporary, open(temporary, "xb") as file:
        file.write(_lines(living))


def _checksum(name: str, stat: str, digest: str) -> str:
    return f"{zlib.crc32(f'{name} {stat} {digest}'.encode()):08x}"


def _is_there(name: str) -> bool:
    try:
        return os.path.lexists(json.loads(name))
    except (ValueError, TypeError):  # a damaged line
        return False


def _lines(entries: Entries) -> bytes:
    text = "".join(f"{name}\t{found}\n" for name, found in entries.items())
    return text.encode("ascii", "replace")
