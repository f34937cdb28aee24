"""What a run says at its end: verdicts that no task told, and how each model fared.

The task named after a model tells its verdict. A run that was asked for a gate and not for
that task, or in which that task waited for what failed, has a verdict all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TextIO

from ascendflow.errors import AccuracyGateError, StageError
from ascendflow.report.lines import failure_message
from ascendflow.report.outcome import failed_lines, passing_lines
from ascendflow.tasks.failures import failure_of
from ascendflow.tasks.session import SESSION
from ascendflow.tasks.told import artifact, load, relative
from ascendflow.tasks.uptodate import META
from ascendflow.tasks.verdict import VerdictAction
from ascendflow.terminal import told

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from doit.task import Task

    from ascendflow.plan import Plan, PlannedStage

    Tasks = Mapping[str, Task]

Fared = Literal["passed", "failed", "not finished"]
FARED: tuple[Fared, ...] = ("passed", "failed", "not finished")


def tell_ending(tasks: Tasks, asked: Collection[str], stream: TextIO) -> None:
    """Tell each verdict that was asked for and that no task told.

    Args:
        tasks: all, by name, as the run left them.
        asked: names of those that were asked for, and of all that they depend on.
        stream: where to.
    """
    fared: dict[Fared, list[str]] = {each: [] for each in FARED}
    for plan in _plans(tasks, asked):
        gates = [each for each in plan.all_of("gate") if plan.task_of(each.name) in asked]
        if gates:
            is_told = plan.run_name in asked and tasks[plan.run_name].executed
            try:
                how, lines = _ending(plan, gates, tasks, asked)
            except Exception as error:  # noqa: BLE001  of whatever kind, no other is lost
                how, lines = "not finished", [_noted(error, plan)]
            lines = [] if is_told else lines
            fared[how].append(plan.run_name)
            stream.writelines(told(f"{line}\n") for line in lines)
    if sum(map(len, fared.values())) > 1:
        parts = [f"{len(n)} {how} ({', '.join(n)})" for how, n in fared.items() if n]
        stream.write(told(f"{', '.join(parts)}\n"))


def _plans(tasks: Tasks, asked: Collection[str]) -> Iterator[Plan]:
    runs = {name.partition(":")[2] for name in asked}
    for name in tasks:
        if name in runs:
            yield from (a.plan for a in tasks[name].actions if isinstance(a, VerdictAction))


def _ending(
    plan: Plan, gates: list[PlannedStage], tasks: Tasks, asked: Collection[str]
) -> tuple[Fared, list[str]]:
    """Say how a run fared, and tell its verdicts; note the exit code of one that failed."""
    ended = [gate for gate in gates if _ended_well(tasks[plan.task_of(gate.name)])]
    verdicts = [load(plan, gate.name, "verdict.json") for gate in ended]
    lines: list[str] = []
    for gate, verdict in zip(ended, verdicts, strict=True):
        report = plan.report_of(gate)
        is_made = report is not None and _ended_well(tasks[plan.task_of(report.name)])
        lines += _lines(plan, gate, verdict, report if is_made else None)
    if any(verdict["passed"] is not True for verdict in verdicts):
        SESSION.exit_codes.append(AccuracyGateError.exit_code)
        return "failed", lines
    stages = [each for each in plan.stages if plan.task_of(each.name) in asked]
    whole = all(_ended_well(tasks[plan.task_of(each.name)]) for each in stages)
    return "passed" if whole else "not finished", lines


def _noted(error: Exception, plan: Plan) -> str:
    """Note the exit code that an error asks for, and return what to say of it."""
    failure = failure_of(error, plan.run_name)
    SESSION.exit_codes.append(getattr(failure, "exit_code", StageError.exit_code))
    return str(failure.get_msg().rstrip())


def _lines(
    plan: Plan, gate: PlannedStage, verdict: Any, report: PlannedStage | None
) -> Iterator[str]:
    """Yield a verdict; of one backend among several, so marked."""
    where = f"{gate.branch}: " if gate.branch else ""
    if verdict["passed"] is True:
        first, *rest = passing_lines(verdict)
    elif report is None:
        first, *rest = failed_lines(verdict)
        rest.append(f"  hint: `doit {plan.run_name}` reports causes, and what cures them")
    else:
        document = load(plan, report.name, "report.json")
        first, *rest = failure_message(verdict, document).splitlines()
        page = relative(artifact(plan, report.name, "report.html"))
        rest.append(f"  hint: open {page}")
    yield f"{where}{first}"
    yield from rest


def _ended_well(task: Task) -> bool:
    """Whether a stage was found up to date, or brought up; in whatever process."""
    said = (task.meta or {}).get(META, {})
    return "outcome" in said if task.executed else said.get("reasons") == []
