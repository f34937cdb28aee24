"""`doit info TASK`: doit's own, in our words; that a stage is stale is no failure."""

from __future__ import annotations

from typing import Any

from doit.cmd_info import Info as DoitInfo
from doit.exceptions import InvalidCommand

from ascendflow.tasks.commands.command import WithoutTraceback


class Info(WithoutTraceback, DoitInfo):
    """`doit info`."""

    def _execute(self, pos_args: list[str], hide_status: bool = False) -> int:
        known = {task.name for task in self.task_list}
        for name in pos_args:
            if name not in known:
                raise InvalidCommand(not_found=name)
        super()._execute(pos_args, hide_status=hide_status)
        return 0

    @staticmethod
    def get_reasons(reasons: dict[str, Any]) -> str:
        """Say our reasons as they are; doit would say how it came to ask for them."""
        own = [f"    - {asked!r}" for asked, _, _ in reasons["uptodate_false"]]
        rest = reasons.copy()  # which knows what to give for what is not in it
        rest["uptodate_false"] = []
        return "\n".join(filter(None, [*own, DoitInfo.get_reasons(rest)]))
