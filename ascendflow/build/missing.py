"""Look for what the target's stages need on this machine before anything dear runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.errors import ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Collection

    from ascendflow.plan import Plan

ON_THE_TARGET = ("convert", "infer")


def refuse_missing(plan: Plan, asked: Collection[str]) -> None:
    """Refuse a run that will come to a stage which needs what is not installed here.

    Args:
        plan: the run.
        asked: the stages that this command was asked for, and all before them.

    Raises:
        ToolNotFoundError: something is not installed; names all of it.
    """
    from ascendflow.backends import load_backend

    slices: dict[str, dict[str, Any]] = {}
    for stage in plan.stages:
        if stage.kind in ON_THE_TARGET and stage.name in asked:
            slices.setdefault(stage.config["backend"], {})[stage.kind] = stage.config
    found = (load_backend(name).missing(each) for name, each in slices.items())
    if problems := [problem for each in found for problem in each]:
        raise ToolNotFoundError("\n".join(problems))
