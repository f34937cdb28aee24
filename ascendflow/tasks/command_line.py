"""doit's command line as `ascendflow` has it."""

from __future__ import annotations

import sys

from doit.cmd_help import Help as DoitHelp
from doit.doit_cmd import DoitMain
from doit.version import VERSION

from ascendflow import __version__
from ascendflow.tasks.commands import COMMANDS, DATABASES
from ascendflow.tasks.commands.help import Help


class CommandLine(DoitMain):
    """doit's command line, with ascendflow's commands whatever pyproject.toml says."""

    BIN_NAME = "ascendflow"
    DOIT_CMDS = (
        Help,
        *(command for command in DoitMain.DOIT_CMDS if command is not DoitHelp),
    )

    def __init__(self) -> None:
        plugins = {"COMMAND": dict(COMMANDS), "BACKEND": dict(DATABASES)}
        super().__init__(extra_config=plugins)

    @staticmethod
    def print_version() -> None:
        """Print whose version it is, and doit's."""
        doit = ".".join(map(str, VERSION))
        sys.stdout.write(f"ascendflow {__version__} (doit {doit})\n")
