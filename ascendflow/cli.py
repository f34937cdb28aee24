"""`ascendflow`: doit with our commands, from any folder below the repository."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ascendflow.errors import UsageError

NEEDS_NO_DODO = (
    "doctor",
    "init",
    "inspect",
    "lint",
    "precision",
    "schema",
    "help",
    "--version",
    "--help",
    "tabcompletion",
)
STAYS_WHERE_IT_IS = ("doctor", "inspect", "lint", "precision")
"""Commands whose files are named from here, not from the repository's folder."""
NAMES_A_DODO = ("-f", "--file", "-d", "--dir")


def main() -> int:
    """Run one command; returns the exit code."""
    # Not at the top: until tasks/ begins to be imported, an interrupt shows a traceback.
    from ascendflow.tasks.command_line import CommandLine

    arguments = [argument for argument in sys.argv[1:] if argument]
    if arguments[:1] in [[name] for name in STAYS_WHERE_IT_IS]:
        pass
    elif (folder := _folder_with_dodo(Path.cwd())) is not None:
        os.chdir(folder)
    elif _needs_a_dodo(arguments):
        sys.stderr.write("ERROR: no dodo.py here or above: run `ascendflow init MODEL`\n")
        return UsageError.exit_code
    if arguments[:1] == ["--help"]:
        arguments[0] = "help"  # doit would not ask our class
    code: int = CommandLine().run(arguments)
    return code


def _needs_a_dodo(arguments: list[str]) -> bool:
    is_named = any(argument.startswith(NAMES_A_DODO) for argument in arguments)
    return arguments[:1] not in [[name] for name in NEEDS_NO_DODO] and not is_named


def _folder_with_dodo(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / "dodo.py").is_file():
            return folder
    return None


if __name__ == "__main__":
    sys.exit(main())
