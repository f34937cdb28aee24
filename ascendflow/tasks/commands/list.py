"""`doit list`: doit's own, which also lists what can be where a manifest is broken."""

from __future__ import annotations

import sys
from typing import Any

from doit.cmd_list import List as DoitList

from ascendflow.errors import UsageError
from ascendflow.tasks.commands.command import WithoutTraceback, complain
from ascendflow.tasks.session import SESSION


class List(WithoutTraceback, DoitList):
    """list tasks from dodo file"""  # noqa: D415  doit shows it as it is

    name = "list"

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
