"""Files of ATC's about precision -> what a manifest would say in their place.

A hand-written file is ATC's to read, and what is foreseen of the model must follow it too.
Formats: GE `docs/zh/user_guides/atc_tools/CLI_options` of each option.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

COLOURS = ("white", "black")
"""Lists of ATC's that a file adds to, or takes from; what is only taken becomes gray."""

_TYPES = re.compile(
    r"(OpType::[^:]+(?=:)|.+?(?=::)):{1,2}InputDtype:([\w,]+),OutputDtype:([\w,]+)"
)


def settings_in(files: Mapping[str, Path]) -> dict[str, Any]:
    """Read those of `files` that are about precision: option -> value, as written inline.

    Args:
        files: option -> the file that the manifest names for it; others are passed over.

    Raises:
        StageError: a file is not of its option's format; names the line.
    """
    found = {}
    for option, read in READERS.items():
        if option in files:
            try:
                text = files[option].read_text(encoding="utf-8")
                found[option] = read(text)
            except ValueError as error:
                what = "is not UTF-8" if isinstance(error, UnicodeError) else str(error)
                raise StageError(
                    f"convert.{option}: {files[option].name}: {what}",
                    hint="correct the file, or write in the manifest what it says",
                ) from error
    return found


def _keep_dtype(text: str) -> list[str]:
    return [line for _, line in _lines(text)]


def _modify_mixlist(text: str) -> dict[str, list[str]]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: is no JSON: {error.msg}") from error
    if not isinstance(document, dict):
        raise ValueError("must be a mapping of black-list and white-list")  # noqa: TRY004
    added = {each: _names(document, f"{each}-list", "to-add") for each in COLOURS}
    removed = [
        name for each in COLOURS for name in _names(document, f"{each}-list", "to-remove")
    ]
    elsewhere = {name for names in added.values() for name in names}
    return {**added, "gray": [name for name in removed if name not in elsewhere]}


def _names(document: Mapping[str, Any], colour: str, change: str) -> list[str]:
    lists = document.get(colour, {})
    names = lists.get(change, []) if isinstance(lists, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{colour}: {change} must be a list of operators")
    return names


def _customize_dtypes(text: str) -> dict[str, dict[str, list[str]]]:
    found = {}
    for number, line in _lines(text):
        match = _TYPES.fullmatch(line)
        if match is None:
            raise ValueError(
                f"line {number}: is not `name::InputDtype:a,OutputDtype:b`, got {line!r}"
            )
        inputs, outputs = match[2].split(","), match[3].split(",")
        found[match[1]] = {"inputs": inputs, "outputs": outputs}
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield numbered lines; empty ones and comments say nothing."""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


READERS: dict[str, Callable[[str], Any]] = {
    "keep_dtype": _keep_dtype,
    "modify_mixlist": _modify_mixlist,
    "customize_dtypes": _customize_dtypes,
}
