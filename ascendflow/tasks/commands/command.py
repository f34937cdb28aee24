"""What our commands that need no dodo.py share."""

from __future__ import annotations

import sys
from typing import Any

from doit.cmd_base import Command

from ascendflow.errors import AscendflowError


class WithoutTraceback:
    """Mix-in for doit's commands: an error of ours is said, and is the exit code."""

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        """Do as doit does, or say what the user got wrong."""
        try:
            code: int = super().execute(opt_values, pos_args)  # type: ignore[misc]
        except AscendflowError as error:
            sys.stderr.write(f"ERROR: {error}\n")
            return error.exit_code
        return code


class OwnCommand(Command):
    """A command whose options may stand behind its arguments, and which shows no traceback.

    doit parses by getopt, which stops at the first argument: of `init MODEL --onnx FILE`
    it would see no option.
    """

    def parse_execute(self, in_args: list[str]) -> int:
        """Parse options wherever they stand, then `answer`; an error is its exit code."""
        values, rest = self.cmdparser.parse(in_args)
        arguments = []
        while rest:
            arguments.append(rest[0])
            values, rest = self.cmdparser.parse_only(rest[1:], values)
        values.update(self.opt_vals)
        return self.execute(values, arguments)

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        """Answer, or say what the user got wrong."""
        try:
            return self.answer(opt_values, pos_args)
        except AscendflowError as error:
            sys.stderr.write(f"ERROR: {error}\n")
            return error.exit_code

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Do what was asked; return the exit code.

        Raises:
            AscendflowError: it cannot be done.
        """
        raise NotImplementedError
