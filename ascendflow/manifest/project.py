"""What a repository needs so that `doit` finds ascendflow: edits of its own files."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from typing import Any

from ascendflow.errors import UsageError

COMMANDS_TABLE = ("tool", "doit", "plugins", "command")
DATABASES_TABLE = ("tool", "doit", "plugins", "backend")
ROOTS_TABLE = ("tool", "ascendflow", "roots")

DODO = '''"""Builds every model below pipelines/: `doit list`, `doit model=NAME`."""

from ascendflow.tasks import DOIT_CONFIG, task_pipelines

__all__ = ["DOIT_CONFIG", "task_pipelines"]
'''

IGNORED = ("build/", ".ascendflow/", ".doit.db*", "__pycache__/", ".venv/")


def with_entries(text: str, table: tuple[str, ...], entries: dict[str, str]) -> str:
    """Add `key = "value"` lines to one table of a pyproject.toml, and touch nothing else.

    Args:
        text: the file, possibly empty.
        table: the table's name, in parts.
        entries: what must be there; a key that has a value keeps it.

    Raises:
        UsageError: the text is no TOML, or spells the table in a way (inline, say) that
            no line can be added to.
    """
    before = _parsed(text)
    wanted = copy.deepcopy(before)
    target = wanted
    for name in table:
        target = target.setdefault(name, {}) if isinstance(target, dict) else {}
    missing = {}
    if isinstance(target, dict):
        missing = {key: value for key, value in entries.items() if key not in target}
        target.update(missing)
    if isinstance(target, dict) and not missing:
        return text
    lines = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in missing.items()
    ]
    added = _added(text, ".".join(table), lines)
    try:
        fine = tomllib.loads(added) == wanted
    except tomllib.TOMLDecodeError:
        fine = False
    if not fine:
        listed = "\n    ".join([f"[{'.'.join(table)}]", *lines])
        hint = f"add these lines yourself, then run the command again:\n    {listed}"
        text = f"pyproject.toml: cannot add to {'.'.join(table)} as it is written there"
        raise UsageError(text, hint=hint)
    return added


def with_ignored(text: str) -> str:
    """Add what ascendflow writes to a .gitignore, and the environment it is run from."""
    there = {line.strip().strip("/") for line in text.splitlines()}
    missing = [line for line in IGNORED if line.strip("/") not in there]
    end = _line_end(text)
    start = end if text and not text.endswith("\n") else ""
    return text + start + "".join(line + end for line in missing) if missing else text


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"pyproject.toml: is not valid TOML: {error}") from error


def _added(text: str, table: str, lines: list[str]) -> str:
    """Put lines behind the table's header, or behind everything, with a header."""
    end = _line_end(text)
    block = "".join(line + end for line in lines)
    header = re.search(
        rf"^\[{re.escape(table)}\][^\S\n]*(#[^\n]*)?(\n|\Z)", text, re.MULTILINE
    )
    if header is not None:
        start = header.end()
        gap = "" if text[:start].endswith("\n") else end
        return text[:start] + gap + block + text[start:]
    gap = "" if not text else end if text.endswith("\n") else end * 2
    return f"{text}{gap}[{table}]{end}{block}"


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
