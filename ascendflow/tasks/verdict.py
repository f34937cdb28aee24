"""The task named after the model: tells the verdict, and fails if it failed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from doit.action import BaseAction

from ascendflow.build.warned import recorded_warnings
from ascendflow.errors import AccuracyGateError
from ascendflow.report.lines import failure_message, warning_line
from ascendflow.report.outcome import passing_lines
from ascendflow.report.words import counted, target_words
from ascendflow.tasks.session import SESSION
from ascendflow.tasks.told import artifact, load, relative
from ascendflow.tasks.uptodate import META

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
        self._withdraw_strays()
        whole = self.task.meta[META]["something_ran"] or self.task.verbosity == 2
        try:
            self._tell(whole=whole)
        except Exception as error:  # noqa: BLE001  of whatever kind, no other task is lost
            from ascendflow.tasks.failures import failure_of

            return failure_of(error, self.task.name)
        return None

    def _withdraw_strays(self) -> None:
        """Leave no verdict behind of backends that the manifest no longer names."""
        if SESSION.proofs.of(self.plan) is not None:
            return  # of the same plan as the last run, which left none
        from ascendflow.build.publish import stray_judgements, withdraw_strays

        if stray_judgements(SESSION.project, self.plan):
            SESSION.hold_run(self.plan.run_name)
            withdraw_strays(SESSION.project, self.plan)

    def _tell(self, *, whole: bool) -> None:
        """Print the verdict.

        Raises:
            AccuracyGateError: it failed.
            StageError: a document is missing, or cannot be read.
        """
        verdicts = {
            gate.branch: load(self.plan, gate.name, "verdict.json")
            for gate in self.plan.all_of("gate")
        }
        failed = {b: v for b, v in verdicts.items() if v["passed"] is not True}
        reports = {
            stage.branch: (stage.name, load(self.plan, stage.name, "report.json"))
            for stage in self.plan.all_of("report")
            if whole or stage.branch in failed
        }
        if whole:
            self._print(reports)
        self._tell_warnings()
        for branch, verdict in verdicts.items():
            if branch not in failed:
                for line in passing_lines(verdict):
                    sys.stdout.write(f"{line}\n")
        if failed:
            told = [failure_message(v, reports[b][1]) for b, v in failed.items()]
            pages = [artifact(self.plan, reports[b][0], "report.html") for b in failed]
            where = " and ".join(str(relative(page)) for page in pages)
            raise AccuracyGateError("\n".join(told), hint=f"open {where}")

    def _print(self, reports: Mapping[str, tuple[str, Any]]) -> None:
        """Print each backend's table, and where prediction and device disagree."""
        from ascendflow.report.console import print_report

        for branch, (_, report) in reports.items():
            if branch:
                sys.stdout.write(f"{branch}: {target_words(report['target'])}\n")
            print_report(report)
        for stage in self.plan.all_of("contrast"):
            from ascendflow.report.contrast_words import contrast_lines

            for line in contrast_lines(load(self.plan, stage.name, "contrast.json")):
                sys.stdout.write(f"{line}\n")
            page = relative(artifact(self.plan, stage.name, "contrast.html"))
            sys.stdout.write(f"where emulator and device disagree: {page}\n")

    def _tell_warnings(self) -> None:
        """Print each warning, but those that this run said when their stage ended."""
        above: list[str] = []
        for warning in self._warnings():
            name = self.plan.task_of(warning["stage"])
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
