"""`doit list`: doit's own, which also lists what can be where a manifest is broken."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from doit.cmd_list import List as DoitList
from doit.exceptions import InvalidTask

from ascendflow.errors import UsageError
from ascendflow.tasks.commands.command import WithoutTraceback, complain
from ascendflow.tasks.session import SESSION
from ascendflow.tasks.standing import standing_words
from ascendflow.tasks.verdict import VerdictAction
from ascendflow.terminal import told

if TYPE_CHECKING:
    from doit.task import Task


class List(WithoutTraceback, DoitList):
    """list tasks from dodo file"""  # noqa: D415  doit shows it as it is

    name = "list"

    def _print_task(self, template: str, task: Task, *rest: Any) -> None:
        """Print a task; of a model, how it stands too."""
        with suppress(
            InvalidTask
        ):  # an action of somebody's own dodo.py: told if it is run
            for action in task.actions if "{doc}" in template else ():
                if isinstance(action, VerdictAction):
                    task.doc = told(f"{standing_words(action.plan)} ({task.doc})")
        super()._print_task(template, task, *rest)

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        """List, then say what is wrong with the manifests that are not among them."""
        problems: list[str] = []
        SESSION.problems = problems
        code = super().execute(opt_values, pos_args)
        if not problems:
            return code
        sys.stdout.flush()
        complain("\n".join(problems))
        return UsageError.exit_code
