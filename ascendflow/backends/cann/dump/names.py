r"""Names of dump files: `OpType.name.task[.stream].time`.

In an operator's type and name ` `, `.`, `/` and `\` are written `_`; all else stays as the
model has it, in whatever script. What ran as a FFTS+ task has its kind, context, thread and
device behind the time; where there are several threads, each file holds a part. A name too
long for the file system is digits alone, and `mapping.csv` beside it tells which:
`digits,name` on each line.
Sources: the runtime's aicpu `dump_task.cpp`; msprobe 26.2 mapping.py.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

MAPPING = "mapping.csv"
_NAME = re.compile(
    r"(?P<op_type>[^./\x00-\x1f]+)\.(?P<name>[^./\x00-\x1f]+)\.(?P<task>\d{1,20})"
    r"(?:\.(?P<stream>\d{1,20}))?\.(?P<time>\d{1,20})"
    r"(?:\.\d{1,10}\.\d{1,10}\.(?P<thread>\d{1,10})(?:\.\d{1,10})?)?",
    re.ASCII,
)
_WRITTEN = str.maketrans(dict.fromkeys(" ./\\", "_"))
_LARGEST_MAPPING = 100 << 20
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class DumpName:
    """What a file's name tells.

    Attributes:
        op_type: the device operator's kind.
        name: its name as `spelled`.
        task: which task of the run.
        stream: which stream; None where the name does not tell.
        time: when, as the device counts.
        thread: which part of it this is, where it was cut in several.
    """

    op_type: str
    name: str
    task: int
    stream: int | None
    time: int
    thread: int = 0


def spelled(op_name: str) -> str:
    """Return an operator's name as file names have it."""
    return op_name.translate(_WRITTEN)


def parsed(name: str) -> DumpName | None:
    """Take the name of a dump file apart; None where it is no such name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    stream = found["stream"]
    numbers = int(found["task"]), None if stream is None else int(stream)
    last = int(found["time"]), int(found["thread"] or 0)
    return DumpName(found["op_type"], found["name"], *numbers, *last)


def dumps(folder: Path, warn: Callable[[str], None]) -> dict[Path, DumpName]:
    """Return the dump files of a folder and what their names tell, in order of time.

    Args:
        folder: of dumps.
        warn: is told of files whose names are none of a dump, or not in the mapping, and
            of operators of which each file holds a part.

    Raises:
        StageError: there are no others; or the mapping is none.
    """
    mapping = _mapping(folder / MAPPING)
    found: dict[Path, DumpName] = {}
    strangers = []
    for path in sorted(folder.iterdir()):
        if path.name == MAPPING or not path.is_file():
            continue
        told = parsed(mapping.get(path.name, path.name))
        if told is None:
            strangers.append(path.name)
        else:
            found[path] = told
    if strangers:
        text = f"{len(strangers)} files are no dumps by their names: {first_few(strangers)}"
        if not found:
            hint = f"long names are digits, and {MAPPING} beside them tells which"
            raise StageError(f"{folder}: {text}", hint=hint)
        warn(text)
    parts = sorted({each.name for each in found.values() if each.thread})
    if parts:
        warn(f"the files of operators hold one thread's part each: {first_few(parts)}")
        found = {path: each for path, each in found.items() if each.name not in parts}
    return dict(sorted(found.items(), key=lambda each: (each[1].time, each[1].task)))


def _mapping(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    size = path.stat().st_size
    if size > _LARGEST_MAPPING:
        raise StageError(f"{path}: has {size} bytes, the most is {_LARGEST_MAPPING}")
    with path.open(encoding="utf-8", errors="backslashreplace", newline="") as file:
        try:
            rows = [row for row in csv.reader(file, strict=True) if row]
        except csv.Error as error:
            raise StageError(f"{path}: is no table: {error}") from error
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise StageError(f"{path}: line {number} has {len(row)} columns, not 2")
    return {row[0]: row[1] for row in rows}


def first_few(names: Sequence[str]) -> str:
    """List the first few names, and tell whether there are more."""
    return ", ".join(map(printable, names[:_SHOWN])) + (
        ", ..." if len(names) > _SHOWN else ""
    )
