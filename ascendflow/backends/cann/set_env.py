"""Reads a toolkit's set_env.sh without running it: what it exports, from an empty start.

Two kinds occur. Up to 8.3 it is a list of `export NAME=value` (8.1.RC1
`<arch>-linux/script/set_env.sh`). From 8.5 on it is a script: functions that put values
before or behind a variable, and one that calls them. Only what those say is understood;
any other line is an error that names it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXPORT = re.compile(r"export\s+([A-Za-z_]\w*)=(.*)", re.ASCII)
_PUT = re.compile(r'(prepend|append)_env\s+"([A-Za-z_]\w*)"\s+"([^"]*)"', re.ASCII)
_LOCAL = re.compile(r'([a-z_]\w*)="?(.*)', re.ASCII)
_NAMED = re.compile(r"\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|\$\((arch)\)", re.ASCII)
_PLAIN = re.compile(r"[^\s\"'`$\\;&|<>(){}*?#~]*")
_FUNCTION = re.compile(r"(\w+)\s*\(\)\s*\{", re.ASCII)

HELPERS = ("append_env", "prepend_env", "remove_env")
"""Functions that 8.5's script defines; they are taken to do what they are called."""

MAIN = "setenv_main"
_THIS_FOLDER = 'version_dirpath="$(dirname "$(readlink -f "$BASH_SOURCE")")"'
_NO_DRIVER = 'if [ "$is_install_driver" = "n" ]; then'
_SBIN = 'case ":$PATH:" in'
_OPENS = re.compile(r"(if|for|while|case)\b")
_CLOSES = re.compile(r"(fi|done|esac)\b")
_CHANGES = re.compile(r"\b(export|prepend_env|append_env)\b")


@dataclass
class _Reader:
    """What is known so far.

    Attributes:
        file: what the script is called in messages.
        values: variables and locals whose value is known.
        exported: those of them that children see.
        has_driver: whether the driver is installed, which 8.5's script looks for itself.
    """

    file: str
    has_driver: bool
    values: dict[str, str]
    exported: dict[str, str] = field(default_factory=dict)

    def export(self, name: str, value: str) -> None:
        self.values[name] = self.exported[name] = value


def read_set_env(
    text: str, *, file: str, folder: str, arch: str, has_driver: bool
) -> dict[str, str]:
    """Return what a set_env.sh exports.

    Args:
        text: the script.
        file: what it is called in messages.
        folder: the folder it lies in, links resolved.
        arch: the machine, as `arch` says it: x86_64 or aarch64.
        has_driver: whether the Ascend driver is installed.

    Raises:
        StageError: a line is not understood; says which.
    """
    reader = _Reader(file, has_driver, {"arch": arch, "architecture": arch})
    lines = iter(enumerate(text.split("\n"), start=1))
    for number, written in lines:
        line = written.strip()
        function = _FUNCTION.fullmatch(line)
        if function is not None and function[1] in HELPERS:
            _skip_function(reader, number, lines)
        elif function is not None and function[1] == MAIN:
            _read_main(reader, lines, folder)
        elif _says_something(line) and line != f'{MAIN} "$@"':
            _read_line(reader, number, line)
    if not reader.exported:
        raise StageError(
            f"{file}: exports nothing", hint="give convert.toolkit the folder of a CANN"
        )
    return {name: _without_gaps(value) for name, value in reader.exported.items()}


def _says_something(line: str) -> bool:
    return bool(line) and not line.startswith("#")


def _skip_function(reader: _Reader, opened: int, lines: Iterator[tuple[int, str]]) -> None:
    for _, line in lines:
        if line.rstrip() == "}":
            return
    raise _not_understood(reader, opened, "a function that does not end")


def _read_main(reader: _Reader, lines: Iterator[tuple[int, str]], folder: str) -> None:
    for number, written in lines:
        line = written.strip()
        if written.rstrip() == "}":
            return
        if line == _THIS_FOLDER:
            reader.values["version_dirpath"] = folder
        elif _OPENS.match(line):
            _read_block(reader, number, line, lines)
        elif _says_something(line) and not re.match(r"(local|remove_env)\s", line):
            _read_line(reader, number, line)
    raise _not_understood(reader, 1, f"{MAIN} does not end")


def _read_block(
    reader: _Reader, opened: int, head: str, lines: Iterator[tuple[int, str]]
) -> None:
    """Read `if`, `for` or `case` to its end; what changes the environment must be known."""
    depth = 1
    for number, written in lines:
        line = written.strip()
        depth += bool(_OPENS.match(line)) - bool(_CLOSES.match(line))
        if depth == 0:
            return
        if not _CHANGES.search(line):
            continue
        if head == _NO_DRIVER and depth == 1:
            if not reader.has_driver:
                _read_line(reader, number, line)
        elif head != _SBIN or line != '*) export PATH="$PATH:/sbin" ;;':
            raise _not_understood(reader, number, line)
    raise _not_understood(reader, opened, head)


def _read_line(reader: _Reader, number: int, line: str) -> None:
    if put := _PUT.fullmatch(line):
        name, value = put[2], _expanded(reader, number, put[3])
        there = reader.values.get(name, "")
        parts = (value, there) if put[1] == "prepend" else (there, value)
        reader.export(name, ":".join(part for part in parts if part))
    elif export := _EXPORT.fullmatch(line):
        reader.export(export[1], _expanded(reader, number, _unquoted(export[2])))
    elif local := _LOCAL.fullmatch(line):
        reader.values.pop(local[1], None)  # of no known value from here on
    else:
        raise _not_understood(reader, number, line)


def _unquoted(written: str) -> str:
    quoted = len(written) >= 2 and written[0] == written[-1] == '"'
    return written[1:-1] if quoted else written


def _expanded(reader: _Reader, number: int, written: str) -> str:
    """Put values for `$NAME`, `${NAME}` and `$(arch)`; anything else must be plain."""
    parts: list[str] = []
    end = 0
    for match in _NAMED.finditer(written):
        parts += [written[end : match.start()], _value(reader, number, match)]
        end = match.end()
    parts.append(written[end:])
    if not all(_PLAIN.fullmatch(part) for part in parts[::2]):
        raise _not_understood(reader, number, written)
    return "".join(parts)


def _value(reader: _Reader, number: int, match: re.Match[str]) -> str:
    name = match[1] or match[2] or match[3]
    if name in reader.values:
        return reader.values[name]
    if name.isupper():
        return ""  # a variable of the caller's, and we start from an empty environment
    raise _not_understood(reader, number, match[0])


def _without_gaps(value: str) -> str:
    """Drop empty entries of a list: to the loader they mean the working folder."""
    return ":".join(part for part in value.split(":") if part)


def _not_understood(reader: _Reader, number: int, what: str) -> StageError:
    shown = what if len(what) <= 80 else f"{what[:77]}..."
    return StageError(
        f"{reader.file}:{number}: is not understood: {shown!r}",
        hint="repair the line if it is not CANN's own; else report it: no line is guessed",
    )
