"""The task named after the model: tells the verdict, and fails if it failed."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from doit.action import BaseAction

from ascendflow.build.warned import recorded_warnings
from ascendflow.errors import AccuracyGateError, StageError
from ascendflow.report.lines import failure_message, verdict_line, warning_line
from ascendflow.report.words import counted
from ascendflow.tasks.session import SESSION
from ascendflow.tasks.uptodate import META

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from doit.exceptions import BaseFail
    from doit.task import Task

    from ascendflow.documents.warnings import StageWarning
    from ascendflow.plan import Plan


class VerdictAction(BaseAction):
    """Prints warnings and verdict; the whole table when something ran or with `-v 2`."""

    def __init__(self, plan: Plan) -> None:
        self.task: Task | None = None
        self.result: str | None = None
        self.values: dict[str, Any] = {}
        self.out = self.err = ""
        self.plan = plan

    def execute(self, out: Any = None, err: Any = None) -> BaseFail | None:
        """Tell verdict.json and report.json; never raises for what a user can mend."""
        del out, err
        assert self.task is not None  # noqa: S101  doit sets it
        whole = self.task.meta[META]["something_ran"] or self.task.verbosity == 2
        try:
            self._tell(whole=whole)
        except Exception as error:  # noqa: BLE001  of whatever kind, no other task is lost
            from ascendflow.tasks.failures import failure_of

            return failure_of(error, self.task.name)
        return None

    def _tell(self, *, whole: bool) -> None:
        """Print the verdict.

        Raises:
            AccuracyGateError: it failed.
            StageError: a document is missing, or cannot be read.
        """
        verdict = self._load("gate", "verdict.json")
        passed = verdict["passed"] is True
        if whole or not passed:
            report = self._load("report", "report.json")
        if whole:
            from ascendflow.report.console import print_report

            print_report(report)
        self._tell_warnings()
        if not passed:
            where = self._relative(self._path("report", "report.html"))
            raise AccuracyGateError(failure_message(verdict, report), hint=f"open {where}")
        sys.stdout.write(f"{verdict_line(verdict)}\n")

    def _tell_warnings(self) -> None:
        """Print each warning, but those that this run said when their stage ended."""
        above: list[str] = []
        for warning in self._warnings():
            name = f"{warning['stage']}:{self.plan.run_name}"
            if (name, warning["text"]) in SESSION.told_warnings:
                above.append(warning["stage"])
            else:
                sys.stdout.write(f"{warning_line(warning)}\n")
        if above:
            stages = ", ".join(dict.fromkeys(above))
            sys.stdout.write(f"{counted(len(above), 'warning')} above, of {stages}\n")

    def _warnings(self) -> Iterator[StageWarning]:
        """Give what the stages warned of; where all were judged up to date, note so."""
        project, plan = SESSION.project, self.plan
        if (proof := SESSION.proofs.of(plan)) is not None:
            for stage, warnings in proof.warnings.items():
                for text in warnings:
                    yield {"stage": stage, "text": text}
            return
        for planned in plan.stages:
            told = recorded_warnings(project, plan, planned.name, project.standing)
            yield from told or ()
        names = [stage.name for stage in plan.stages]
        standing = {
            name: project.standing[plan.run_name, name]
            for name in names
            if (plan.run_name, name) in project.standing
        }
        if len(standing) == len(names):
            SESSION.proofs.note(plan, standing)

    def _load(self, stage: str, role: str) -> Any:
        path = self._path(stage, role)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(document, dict) or document.get("schema_version") != 1:
                raise ValueError("no document of schema_version 1")  # noqa: TRY301
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StageError(
                f"{self.plan.run_name}: cannot read {self._relative(path)}: {reason}",
                hint="run the same again: stages whose artifacts are gone are restored",
            ) from error
        return document

    def _path(self, stage: str, role: str) -> Path:
        return SESSION.project.artifact(self.plan, stage, role)

    def _relative(self, path: Path) -> Path:
        return path.relative_to(SESSION.project.repository)
