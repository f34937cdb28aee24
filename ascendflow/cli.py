"""`ascendflow`: doit with our commands, from any folder below the repository."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from doit.doit_cmd import DoitMain

from ascendflow.tasks.commands import COMMANDS


class AscendflowMain(DoitMain):
    """doit's command line, with ascendflow's commands whatever pyproject.toml says."""

    BIN_NAME = "ascendflow"

    def __init__(self) -> None:
        super().__init__(extra_config={"COMMAND": dict(COMMANDS)})


def main() -> int:
    """Run one command; returns the exit code."""
    if (folder := _folder_with_dodo(Path.cwd())) is not None:
        os.chdir(folder)
    arguments = [argument for argument in sys.argv[1:] if argument]
    code: int = AscendflowMain().run(arguments)
    return code


def _folder_with_dodo(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / "dodo.py").is_file():
            return folder
    return None


if __name__ == "__main__":
    sys.exit(main())
