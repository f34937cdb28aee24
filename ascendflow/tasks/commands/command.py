"""What our commands that need no dodo.py share."""

from __future__ import annotations

import atexit
import gc
import re
import sys
from typing import TYPE_CHECKING, Any

from doit import doit_cmd
from doit.cmd_base import Command
from doit.cmdparse import CmdParseError
from doit.exceptions import InvalidCommand

from ascendflow.errors import AscendflowError, UsageError, plain
from ascendflow.tasks.commands import WITHHELD
from ascendflow.terminal import told

if TYPE_CHECKING:
    from collections.abc import Callable


INTERNAL = ("dep_file", "backend", "codec_cls", "check_file_uptodate")
"""doit's options about its own database, which no user of ours has a use for."""


class Helpful:
    """Mix-in: `COMMAND --help` is `help COMMAND`, where doit would dump its options."""

    def help(self) -> str:
        """Return doit's text, without the options of doit's own database."""
        options = self.cmdparser._options  # type: ignore[attr-defined]  # noqa: SLF001
        hidden = {} if isinstance(self, OwnCommand) else INTERNAL
        kept = {name: options.pop(name) for name in hidden if name in options}
        text: str = super().help()  # type: ignore[misc]
        options.update(kept)
        return text

    def parse_execute(self, in_args: list[str]) -> int:
        """Help if that is asked for, else do as the command does."""
        atexit.register(_end_at_once)
        if {"--help", "-h"} & set(in_args):
            sys.stdout.write(f"{self.help()}\n")
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
            unknown = re.fullmatch(r"'(.+)' is not a task\.", str(error))
            name = unknown[1] if unknown else error.not_found
            if name is not None and (left_out := _left_out(name)) is not None:
                raise InvalidCommand(left_out) from error
            if name is None or (near := self._nearest(name)) is None:
                raise
            problem = f"there is no task or command {name!r}"
            raise InvalidCommand(f"{problem}\n  hint: did you mean {near!r}?") from error

    def _nearest(self, name: str) -> str | None:
        from difflib import get_close_matches

        tasks: list[str] = [t.name for t in self.task_list]  # type: ignore[attr-defined]
        overridden = [task for task in tasks if task.startswith(f"{name}@")]
        if overridden:  # by soc= or precision=, which are in a run's name
            return overridden[0]
        refused = {command for command, _ in WITHHELD}
        commands: list[str] = self.loader.cmd_names  # type: ignore[attr-defined]
        known = [*tasks, *(each for each in commands if each not in refused)]
        return next(iter(get_close_matches(name, known, n=1)), None)


def _end_at_once() -> None:
    """Let Python not look for garbage in all that was imported, before it ends.

    Unless native packages were, which would call leaked what is left; all need numpy.
    """
    if "numpy" not in sys.modules:
        gc.freeze()


def _left_out(task: str) -> str | None:
    """Say that `model=` does not select the model of a task, where it is that."""
    from ascendflow.tasks.selection import all_models, select_models
    from ascendflow.tasks.session import SESSION
    from ascendflow.tasks.variables import read_variables

    wanted = read_variables().model
    models = all_models(SESSION.project.repository)
    model = task.rpartition(":")[2].partition("@")[0]
    if model not in models or model in select_models(models, wanted):
        return None
    return (
        f"{task!r} is of model {model!r}, which model={wanted} leaves out\n"
        f"  hint: write model={model}, or no model="
    )


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
        # doit takes them out of the command line before a command sees it.
        words = {} if {"--help", "-h"} & set(in_args) else doit_cmd._CMDLINE_VARS  # noqa: SLF001
        if words:
            name, value = next(iter(words.items()))
            hint = "an option and its value are two words: --name value"
            if "--shape" in in_args:
                hint = f"write --shape {name}:{value}"
            complain(UsageError(f"{self.name}: takes no {name}={value}", hint=hint))
            return UsageError.exit_code
        try:
            return super().parse_execute(in_args)
        except CmdParseError as error:
            problem, _, _ = str(error).partition(" (parsing options")
            problem = problem.removeprefix("Error parsing Command: ")
            complain(UsageError(f"{self.name}: {problem}"))
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
