"""The files that a device dumped, as the worker gave them: numbered, with their sizes.

A file's name there is made of a model's, so it is no path and no part of a command here:
files come under numbers, and get a name back only where it is one that dumps have.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError, ToolFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FOLDER = "dumped"
_NAME = re.compile(r"[^\x00-\x1f/.-][^\x00-\x1f/]*")
_LONGEST = 255
"""Bytes of a file's name."""
_KEPT = re.compile(r"dump-[0-9]{1,9}", re.ASCII)
_WITHOUT = "report that name; `compare: {node_samples: 0}` compares outputs alone"
_OTHER_TOOLS = "aclnn"
"""How files begin that calls of single operators leave; msprobe passes over them too.
Source: msprobe 26.2 msquickcmp utils.py."""


def dumped_files(answers: Sequence[Mapping[str, Any]], work: Path) -> dict[str, int]:
    """Return the files that the worker has, and their sizes; there is room for them.

    Raises:
        StageError: there is not, or one is no file of a dump.
    """
    files = _files(answers)
    sizes = {each["file"]: each["size"] for each in files}
    needed, free = sum(sizes.values()), shutil.disk_usage(work).free
    if needed >= free:
        raise StageError(
            f"compare: the dump has {needed} bytes, and {free} are free in {work.parent}",
            hint="set TMPDIR to a folder on a larger disk",
        )
    return sizes


def laid_out(work: Path, answers: Sequence[Mapping[str, Any]]) -> list[Path]:
    """Give the files their names back; a folder for each that they lay in there.

    Raises:
        StageError: nothing was dumped, or a name is none of a dump.
        ToolFailedError: a file is not the one that the worker saw.
    """
    files = _files(answers)
    if not files:
        raise StageError("compare: the device dumped nothing", hint="see compare's log")
    found: dict[str, Path] = {}
    for each in files:
        there, _, name = each["path"].rpartition("/")
        if not _NAME.fullmatch(name) or len(name.encode(errors="replace")) > _LONGEST:
            text = f"compare: the device dumped a file named {name!r}"
            raise StageError(text, hint=_WITHOUT)
        folder = found.setdefault(there, work / FOLDER / str(len(found)))
        folder.mkdir(parents=True, exist_ok=True)
        _hold(work / each["file"], each)
        (work / each["file"]).rename(folder / name)
    return [
        folder
        for folder in found.values()
        if not any(path.name.startswith(_OTHER_TOOLS) for path in folder.iterdir())
    ]


def _files(answers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    said = next((each for each in answers if each["event"] == "dumped"), None)
    files = [] if said is None else list(said["files"])
    for each in files:
        if not _KEPT.fullmatch(each["file"]):
            text = f"compare: the worker names a file {each['file']!r}"
            raise StageError(text, hint=_WITHOUT)
    return files


def _hold(path: Path, said: Mapping[str, Any]) -> None:
    size = path.stat().st_size if path.is_file() else 0
    digest = ""
    if size == said["size"]:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != said["sha256"]:
        raise ToolFailedError(
            f"compare: {said['path']} came with {size} bytes of {said['size']}, or others",
            hint="see whether the disk here is full, or something else writes there",
        )
