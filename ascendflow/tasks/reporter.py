"""What doit prints while it runs: one line a stage, with the reason, and no traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doit.exceptions import UnmetDependency
from doit.reporter import ConsoleReporter

from ascendflow.tasks.session import SESSION
from ascendflow.tasks.uptodate import META

if TYPE_CHECKING:
    from doit.exceptions import BaseFail
    from doit.task import Task


class StageReporter(ConsoleReporter):
    """Console output; also notes which exit code each failure asks for."""

    desc = "console output, one line a stage, with reasons"

    def execute_task(self, task: Task) -> None:
        """Say that a stage starts, and why."""
        if task.actions:
            reasons = (task.meta or {}).get(META, {}).get("reasons", [])
            because = f"  ({_shortened(reasons)})" if reasons else ""
            self.write(f".  {task.title()}{because}\n")

    def add_success(self, task: Task) -> None:
        """Say how a stage was satisfied, and what it warned of."""
        outcome = (task.meta or {}).get(META, {}).get("outcome")
        if outcome is None:
            return
        took = f" in {outcome['wall_s']:.1f} s" if outcome["wall_s"] else ""
        self.write(f"   {task.name} {outcome['how']}{took}\n")
        for warning in outcome["warnings"]:
            self.write(f"   warning: {task.name}: {warning}\n")
        if outcome["differing"]:
            roles = ", ".join(outcome["differing"])
            self.write(
                f"   warning: {task.name} is not deterministic: {roles} came out "
                "otherwise than recorded; the recorded one stays\n"
            )

    def add_failure(self, task: Task, fail: BaseFail) -> None:
        """Say what went wrong; what only waited for a failed stage is just named."""
        if isinstance(fail, UnmetDependency):
            self.write(f"   {task.name} was not run: {fail.message} failed\n")
            return
        self.failures.append({"task": task, "exception": fail})
        SESSION.exit_codes.append(getattr(fail, "exit_code", 2))
        self.write(f"{fail.get_msg().rstrip()}\n")

    def complete_run(self) -> None:
        """Failures were shown when they happened; only doit's own errors are left."""
        self.failures: list[dict[str, Any]] = []
        super().complete_run()


def _shortened(reasons: list[str]) -> str:
    first = reasons[0]
    return first if len(reasons) == 1 else f"{first}, and {len(reasons) - 1} more"
