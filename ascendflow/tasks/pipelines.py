"""From plans to doit's tasks."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from doit.exceptions import InvalidDodoFile

from ascendflow.errors import AscendflowError, plain
from ascendflow.plan import OF_SEVERAL, kind_of
from ascendflow.tasks import terminal
from ascendflow.tasks.action import StageAction
from ascendflow.tasks.planning import plan_of
from ascendflow.tasks.removal import RemoveFolder
from ascendflow.tasks.reporter import StageReporter
from ascendflow.tasks.selection import all_models, refusal, select_models
from ascendflow.tasks.session import SESSION
from ascendflow.tasks.summaries import SUMMARIES
from ascendflow.tasks.uptodate import NeverUpToDate, UpToDate
from ascendflow.tasks.variables import read_variables
from ascendflow.tasks.verdict import VerdictAction
from ascendflow.vocabulary import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ascendflow.plan import Plan, PlannedStage

Graph = tuple[tuple[str, tuple[str, ...]], ...]
"""(stage, the stages that must come first), producers first."""

OF_EACH_BACKEND = {"ascendflow": {"of": "each backend"}}
"""Marks a task that stands for those of the same stage on each backend."""

DOIT_CONFIG = {
    "backend": "ascendflow",
    "dep_file": ".ascendflow/doit.json",
    "par_type": "thread",
    "reporter": StageReporter,
}


def task_pipelines() -> Iterator[dict[str, Any]]:
    """Yield the tasks of every selected model."""
    terminal.prepare()
    plans = selected_plans()
    several = (s.name for plan in plans for s in plan.stages if s.name not in STAGES)
    absent = {*OF_SEVERAL} - {stage.name for plan in plans for stage in plan.stages}
    for name in dict.fromkeys((*STAGES, *several)):
        if name not in absent:
            does = SUMMARIES[kind_of(name)].does
            doc = f"{name} of every selected model: {does}"
            yield {"basename": name, "name": None, "doc": doc}
    for plan in plans:
        graph = tuple((stage.name, stage.after) for stage in plan.stages)
        for stage, after in zip(plan.stages, _direct(graph), strict=True):
            yield _stage_task(plan, stage, after)
        yield from _tasks_of_each_backend(plan)
        yield _model_task(plan, _last(graph))


def selected_plans() -> list[Plan]:
    """Plan every model that the command line selects; those that can be, for `list`.

    Raises:
        InvalidDodoFile: a variable, a name or a manifest is wrong; all manifests at once.
    """
    variables = read_variables()
    repository = SESSION.project.repository
    _refuse_path(repository)
    try:
        models = select_models(all_models(repository), variables.model)
    except OSError as error:
        raise refusal(str(plain(error))) from error
    plans, problems = [], []
    for model in models:
        try:
            plans.append(plan_of(SESSION.project, model, variables))
        except AscendflowError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{model}: {plain(error)}")
    problems = list(dict.fromkeys(problems))  # soc= is as wrong for each model
    if SESSION.problems is not None:
        SESSION.problems += problems
    elif problems:
        raise refusal("\n".join(problems))
    return plans


def _refuse_path(repository: Path) -> None:
    try:
        str(repository).encode()
    except UnicodeEncodeError as error:
        raise InvalidDodoFile(
            f"the path {os.fsencode(repository)!r} is not UTF-8\n"
            "  hint: move the repository: onnx could open no file there"
        ) from error


@cache
def _direct(graph: Graph) -> list[list[str]]:
    """Leave out what comes first anyway: doit takes its time for each pair of tasks."""
    before: dict[str, set[str]] = {}
    direct = []
    for name, after in graph:
        far = set[str]().union(*(before[each] for each in after))
        before[name] = far | set(after)
        direct.append([each for each in after if each not in far])
    return direct


@cache
def _last(graph: Graph) -> list[str]:
    """Name the stages that no other waits for."""
    waited_for = {each for _, after in graph for each in after}
    return [name for name, _ in graph if name not in waited_for]


def _stage_task(plan: Plan, stage: PlannedStage, after: Sequence[str]) -> dict[str, Any]:
    return {
        "basename": stage.name,
        "name": plan.run_name,
        "doc": SUMMARIES[stage.kind].does,
        "actions": [StageAction(plan, stage)],
        "task_dep": [plan.task_of(before) for before in after],
        "uptodate": [UpToDate(plan, stage)],
        "clean": [RemoveFolder(plan.run_name, stage.name)],
        "verbosity": 1,
    }


def _tasks_of_each_backend(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield, for each stage that there is once for each backend, one that asks for all."""
    for kind in dict.fromkeys(stage.kind for stage in plan.stages if stage.branch):
        names = [stage.name for stage in plan.all_of(kind)]
        yield {
            "basename": kind,
            "name": plan.run_name,
            "doc": f"{' and '.join(names)} of {plan.run_name}",
            "actions": None,
            "task_dep": [plan.task_of(name) for name in names],
            "clean": [RemoveFolder(plan.run_name, name) for name in names],
            "meta": OF_EACH_BACKEND,
        }


def _model_task(plan: Plan, after: Sequence[str]) -> dict[str, Any]:
    """Make the task that enforces the verdict; nothing may depend on it."""
    return {
        "basename": plan.run_name,
        "doc": f"every stage of {plan.run_name}, then its verdict",
        "actions": [VerdictAction(plan)],
        "task_dep": [plan.task_of(before) for before in after],
        "uptodate": [NeverUpToDate(plan.run_name)],
        "clean": [RemoveFolder(plan.run_name)],
        "verbosity": 1,
    }
