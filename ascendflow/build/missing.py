"""Look for what the target's stages need before anything dear runs.

What is not installed on this machine is refused. Another machine may be off until it is
needed, so one that cannot be reached now is told and no more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ascendflow.errors import ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from ascendflow.plan import Plan, PlannedStage

ON_THE_TARGET = ("convert", "infer")

KEY = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")


def refuse_missing(plan: Plan, asked: Collection[str], repository: Path) -> None:
    """Refuse a run that will come to a stage which needs what is not installed here.

    Args:
        plan: the run.
        asked: the stages that this command was asked for, and all before them.
        repository: where the manifest is.

    Raises:
        ToolNotFoundError: something is not installed; names all of it, and its backend.
    """
    from ascendflow.backends import load_backend

    slices: dict[str, dict[str, Any]] = {}
    for stage in plan.stages:
        if stage.kind in ON_THE_TARGET and stage.name in asked:
            slices.setdefault(stage.config["backend"], {})[stage.kind] = stage.config
    found = {name: load_backend(name).missing(each) for name, each in slices.items()}
    lacking = {name: problems for name, problems in found.items() if problems}
    if not lacking:
        return
    head = f"{plan.run_name}: backend {' and '.join(lacking)} lacks what it needs here:"
    problems = [problem for each in lacking.values() for problem in each]
    others = [name for name in slices if name not in lacking]
    raise ToolNotFoundError(
        "\n".join([head, *_with_lines(problems, plan, repository)]),
        hint=f"`--continue` builds {' and '.join(others)} all the same" if others else None,
    )


def _with_lines(problems: list[str], plan: Plan, repository: Path) -> Iterator[str]:
    """Put before each problem where in the manifest the key is that it begins with."""
    # Not at the top: nothing is missing as a rule.
    from ascendflow.manifest.source import parse

    file = f"{plan.folder}/manifest.yaml"
    try:
        source = parse((repository / file).read_bytes())
    except OSError:  # it went since the run began
        yield from (f"{file}: {problem}" for problem in problems)
        return
    for problem in problems:
        key = KEY.match(problem)
        keys = tuple(key[0].split(".")) if key else ()
        yield f"{file}:{source.line(keys)}: {problem}"


def runs_after(
    plan: Plan, stage: PlannedStage, asked: Collection[str]
) -> list[PlannedStage]:
    """Return the stages that run the target once `stage` has run, of those asked for."""
    found = []
    for each in plan.stages:
        if each.kind == "infer" and each.name in asked and each is not stage:
            needed = {each.name}
            for other in reversed(plan.stages):
                needed.update(other.after if other.name in needed else ())
            if stage.name in needed:
                found.append(each)
    return found


def out_of_reach(stage: PlannedStage) -> str | None:
    """Return what keeps `stage` from running the target now, or None."""
    from ascendflow.backends import load_backend

    return load_backend(stage.config["backend"]).out_of_reach(stage.config)
