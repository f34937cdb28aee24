"""What our commands that need no dodo.py share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from doit.cmd_base import Command
from doit.cmdparse import CmdParseError
from doit.exceptions import InvalidCommand

from ascendflow.errors import AscendflowError, UsageError, plain
from ascendflow.terminal import told

if TYPE_CHECKING:
    from collections.abc import Callable


class Helpful:
    """Mix-in: `COMMAND --help` is `help COMMAND`, where doit would dump its options."""

    def parse_execute(self, in_args: list[str]) -> int:
        """Help if that is asked for, else do as the command does."""
        if {"--help", "-h"} & set(in_args):
            sys.stdout.write(f"{self.help()}\n")  # type: ignore[attr-defined]
            return 0
        code: int = super().parse_execute(in_args)  # type: ignore[misc]
        return code


class WithoutTraceback(Helpful):
    """Mix-in for doit's commands: an error of ours is said, and is the exit code.

    And a task that is not there is told with the nearest that is.
    """

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        """Do as doit does, or say what the user got wrong, or what the machine refused."""
        execute = super().execute  # type: ignore[misc]
        try:
            return _exit_code(lambda: execute(opt_values, pos_args))
        except InvalidCommand as error:
            if error.not_found is None or (near := self._nearest(error.not_found)) is None:
                raise
            problem = f"there is no task or command {error.not_found!r}"
            raise InvalidCommand(f"{problem}\n  hint: did you mean {near!r}?") from error

    def _nearest(self, name: str) -> str | None:
        from difflib import get_close_matches

        tasks: list[str] = [t.name for t in self.task_list]  # type: ignore[attr-defined]
        overridden = [task for task in tasks if task.startswith(f"{name}@")]
        if overridden:  # by soc= or precision=, which are in a run's name
            return overridden[0]
        commands: list[str] = self.loader.cmd_names  # type: ignore[attr-defined]
        return next(iter(get_close_matches(name, [*tasks, *commands], n=1)), None)


class WithOptionsAnywhere(Command):
    """A command whose options may stand behind its arguments.

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
        code: int = self.execute(values, arguments)
        return code


class OwnCommand(Helpful, WithOptionsAnywhere):
    """A command that needs no dodo.py and shows no traceback."""

    def parse_execute(self, in_args: list[str]) -> int:
        """Parse and execute; an option that is not there is one line."""
        try:
            return super().parse_execute(in_args)
        except CmdParseError as error:
            problem, _, _ = str(error).partition(" (parsing options")
            problem = problem.removeprefix("Error parsing Command: ")
            lacks = problem.endswith("requires argument")
            # doit takes it out of the command line before a command sees it.
            hint = "a word like name=value is a variable of doit's, no argument"
            complain(UsageError(f"{self.name}: {problem}", hint=hint if lacks else None))
            return UsageError.exit_code

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        """Answer, or say what the user got wrong."""
        return _exit_code(lambda: self.answer(opt_values, pos_args))

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Do what was asked; return the exit code.

        Raises:
            AscendflowError: it cannot be done.
        """
        raise NotImplementedError


def complain(problem: object) -> None:
    """Write an error, which may quote names that a terminal would obey."""
    sys.stderr.write(told(f"ERROR: {problem}\n"))


def _exit_code(answer: Callable[[], int]) -> int:
    """Return what `answer` does, or complain and return what its error asks for."""
    try:
        return answer()
    except AscendflowError as error:
        complain(error)
        return error.exit_code
    except OSError as error:
        complain(plain(error))
        return UsageError.exit_code
