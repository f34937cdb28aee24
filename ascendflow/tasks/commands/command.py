"""What our commands that need no dodo.py share."""

from __future__ import annotations

import sys
from typing import Any

from doit.cmd_base import Command
from doit.exceptions import InvalidCommand

from ascendflow.errors import AscendflowError, UsageError, plain


class WithoutTraceback:
    """Mix-in for doit's commands: an error of ours is said, and is the exit code.

    And a task that is not there is told with the nearest that is.
    """

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        """Do as doit does, or say what the user got wrong, or what the machine refused."""
        try:
            code: int = super().execute(opt_values, pos_args)  # type: ignore[misc]
        except AscendflowError as error:
            sys.stderr.write(f"ERROR: {error}\n")
            return error.exit_code
        except OSError as error:
            sys.stderr.write(f"ERROR: {plain(error)}\n")
            return UsageError.exit_code
        except InvalidCommand as error:
            if error.not_found is None or (near := self._nearest(error.not_found)) is None:
                raise
            problem = f"there is no task or command {error.not_found!r}"
            raise InvalidCommand(f"{problem}\n  hint: did you mean {near!r}?") from error
        return code

    def _nearest(self, name: str) -> str | None:
        from difflib import get_close_matches

        tasks = [task.name for task in self.task_list]  # type: ignore[attr-defined]
        commands: list[str] = self.loader.cmd_names  # type: ignore[attr-defined]
        return next(iter(get_close_matches(name, [*tasks, *commands], n=1)), None)


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
        except OSError as error:
            sys.stderr.write(f"ERROR: {plain(error)}\n")
            return UsageError.exit_code

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Do what was asked; return the exit code.

        Raises:
            AscendflowError: it cannot be done.
        """
        raise NotImplementedError
