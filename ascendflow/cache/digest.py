"""Digests: `sha256:<hex>` of bytes, files, JSON values and trees of files."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

PREFIX = "sha256:"
LENGTH = len(PREFIX) + 64
_CONTAINERS = (dict, list, tuple)
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_bytes(data: bytes) -> str:
    """Digest of `data`."""
    return PREFIX + hashlib.sha256(data).hexdigest()


def digest_file(path: str | os.PathLike[str]) -> str:
    """Digest of a file's content, read whole. `Index.digest` reads only what changed.

    Raises:
        OSError: the file is not there or cannot be read.
    """
    with open(path, "rb") as file:
        return PREFIX + hashlib.file_digest(file, "sha256").hexdigest()


def canonical_json(value: object) -> bytes:
    """Spell a JSON value in the one way that keys are made from.

    Keys sorted, no spaces, ASCII only. 1, 1.0 and true differ; a tuple is a list.

    Raises:
        ValueError: NaN or an infinity, which JSON has no word for.
        TypeError: a key that is no string (1 and "1" would be one key), or a value
            that is no JSON.
    """
    if isinstance(value, _CONTAINERS):
        _refuse_other_keys(value)
    return _ENCODER.encode(value).encode("ascii")


def digest_json(value: object) -> str:
    """Digest of a JSON value; raises as `canonical_json` does."""
    return digest_bytes(canonical_json(value))


def digest_document(document: Mapping[str, Any]) -> str:
    """Digest of JSON data whose keys are known to be text; the same as `digest_json`.

    To look at every key takes as long as to spell the document, several times a stage.
    """
    return digest_bytes(_ENCODER.encode(document).encode("ascii"))


def digest_tree(files: Mapping[str, str]) -> str:
    """Digest of an artifact, from the digest of each of its files by relative path.

    An artifact that is a file, whose one path is "", has the digest of that file.
    """
    if files.keys() == {""}:
        return files[""]
    return digest_json(sorted(files.items()))


def hex_of(digest: str) -> str:
    """Return the 64 hex digits of a digest.

    Raises:
        ValueError: not a digest; a store would look for it at a strange path.
    """
    digits = digest.removeprefix(PREFIX)
    if len(digest) != LENGTH or len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        raise ValueError(
            f"{digest!r} is not a digest (sha256: and 64 lower-case hex digits)"
        )
    return digits


def short(digest: str) -> str:
    """Return the first 8 hex digits, for people; what is no digest is left as it is."""
    return digest[len(PREFIX) :][:8] if digest.startswith(PREFIX) else digest


def _refuse_other_keys(value: Any) -> None:
    values = value
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"a JSON object's key must be a string, got {key!r}")
        values = value.values()
    for inner in values:
        if isinstance(inner, _CONTAINERS):
            _refuse_other_keys(inner)
