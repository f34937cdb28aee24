"""What doit prints while it runs: one line a stage, with the reason, and no traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doit.exceptions import TaskError, UnmetDependency
from doit.reporter import ConsoleReporter

from ascendflow.plan import kind_of
from ascendflow.report.words import counted
from ascendflow.tasks.session import SESSION
from ascendflow.tasks.uptodate import META
from ascendflow.terminal import told

if TYPE_CHECKING:
    from doit.exceptions import BaseFail
    from doit.task import Task


class StageReporter(ConsoleReporter):
    """Console output; also notes which exit code each failure asks for."""

    desc = "console output, one line a stage, with reasons"

    def __init__(self, outstream: Any, options: dict[str, Any]) -> None:
        super().__init__(outstream, options)
        self._repeated: dict[str, tuple[str, ...]] = {}
        self._waiting: dict[str, list[str]] = {}

    def write(self, text: str) -> None:
        """Write what may quote user code, file names or names from models."""
        super().write(told(text))

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
        if outcome["how"] == "repeated":
            self._repeated[task.name] = tuple(outcome["differing"])
        took = f" in {outcome['wall_s']:.1f} s" if outcome["wall_s"] else ""
        self.write(f"   {task.name} {outcome['how']}{took}\n")
        for warning in outcome["warnings"]:
            self.write(f"   warning: {task.name}: {warning}\n")
            SESSION.told_warnings.add((task.name, warning))
        if outcome["differing"]:
            roles = ", ".join(outcome["differing"])
            self.write(
                f"   warning: {task.name} is not deterministic: {roles} came out "
                "otherwise than recorded; the recorded one stays\n"
            )

    def add_failure(self, task: Task, fail: BaseFail) -> None:
        """Say what went wrong, and where; what only waited for a failure is counted."""
        if isinstance(fail, UnmetDependency):
            stage, _, run = task.name.partition(":")
            if run and task.actions:  # a group has none, and its members are counted
                self._waiting.setdefault(run, []).append(stage)
            return
        message = fail.get_msg().rstrip()
        known = any(
            each["exception"].get_msg().rstrip() == message for each in self.failures
        )
        self.failures.append({"task": task, "exception": fail})
        SESSION.exit_codes.append(getattr(fail, "exit_code", 2))
        error = "ERROR: " if isinstance(fail, TaskError) else ""  # a verdict is none
        self.write(
            f"   {task.name} failed for the same reason\n"
            if known
            else f"{error}{_of_task(task.name, message)}\n"
        )

    def complete_run(self) -> None:
        """Say what was not run, and whether a repetition was one.

        Failures were shown when they happened.
        """
        failed = [each["task"].name for each in self.failures]
        for run, stages in self._waiting.items():
            causes = [name for name in failed if name.partition(":")[2] == run]
            count = counted(len(stages), "stage")
            self.write(f"   {run}: {count} not run, {' and '.join(causes)} failed\n")
        if self._repeated:
            otherwise = [name for name, roles in self._repeated.items() if roles]
            count = counted(len(self._repeated), "stage")
            found = "nothing came out otherwise"
            if otherwise:
                found = f"otherwise than recorded: {', '.join(otherwise)}"
            self.write(f"repeated {count}: {found}\n")
        self.failures: list[dict[str, Any]] = []
        super().complete_run()


def _of_task(name: str, message: str) -> str:
    """Begin a message with the task that it is of, unless it is of the task's whole run."""
    stage, _, run = name.partition(":")
    if message.startswith((f"{name}:", f"{run or stage}:")):
        return message
    kind = kind_of(stage)
    return f"{name}: {message.removeprefix(f'{kind}: ')}"


def _shortened(reasons: list[str]) -> str:
    first = reasons[0]
    return first if len(reasons) == 1 else f"{first}, and {len(reasons) - 1} more"
