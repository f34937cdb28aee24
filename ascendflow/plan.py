"""A plan: frozen stages with their slices, inputs and outputs; runs nothing.

A plan is plain data, kept as JSON, so that an up-to-date run needs neither the manifest
models nor the stages themselves. Named tuples, since dataclasses take ten times as long to
make, which such a run would notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.stages.stage import Stage

OF_SEVERAL = ("contrast",)
"""Stages that only a manifest of several backends has."""

CHOOSES_RULES = "ascendflow.cann.auto"
"""Loaded by its name, so that without `rules: auto` deviations are no code of rewrite."""

WARNINGS = "warnings.json"
"""A role that no stage makes: what the records of all stages before it warn of."""


def named(kind: str, branch: str) -> str:
    """Name a stage of one branch, `convert@cann`; of no branch by its kind alone."""
    return f"{kind}@{branch}" if branch else kind


def kind_of(name: str) -> str:
    """Return what a stage does, whatever the backend: `convert` of `convert@cann`."""
    return name.partition("@")[0]


def branch_of(name: str) -> str:
    """Return the backend that a stage alone is for; "" where it is no other's too."""
    return name.partition("@")[2]


def made_as(role: str) -> str:
    """Return what the stage that makes an input calls it."""
    return role.rpartition("/")[2]


class PlannedStage(NamedTuple):
    """All that decides one stage's outputs, but for the contents of its inputs.

    Attributes:
        name: the stage, `convert@cann` where there is one for each backend.
        config: its slice of the manifest, defaults filled in.
        inputs: role -> the stage that makes it; "cann/metrics.json" is what it made as
            "metrics.json".
        guards: stages that must be up to date first, though it takes nothing of theirs.
        files: role -> a file that the manifest names, as a read name
            ("pipeline:weights.pt", "repository:...", "<root>:...").
        outputs: roles that it makes.
        tools: distributions whose versions belong in its key.
        modules: ascendflow modules whose code, with all they import, is its code.
        computes_floats: whether the CPU's instruction set belongs in its key.
        environment: what the manifest adds to its environment.
        threads: how many threads numeric libraries may use.
        timeout_s: seconds until its child is ended.
        memory_gb: resident memory, in 10^9 bytes, at which its child is ended.
        warnings_of: stages whose recorded warnings are an input too, `warnings.json`.
    """

    name: str
    config: dict[str, Any]
    inputs: dict[str, str]
    guards: tuple[str, ...]
    files: dict[str, str]
    outputs: tuple[str, ...]
    tools: tuple[str, ...]
    modules: tuple[str, ...]
    computes_floats: bool
    environment: dict[str, str]
    threads: int
    timeout_s: float | None
    memory_gb: float | None
    warnings_of: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What the stage does; see `kind_of`."""
        return kind_of(self.name)

    @property
    def branch(self) -> str:
        """The backend that the stage alone is for; see `branch_of`."""
        return branch_of(self.name)

    @property
    def after(self) -> tuple[str, ...]:
        """The stages that must come first, sorted."""
        return tuple(sorted({*self.inputs.values(), *self.guards, *self.warnings_of}))


class Plan(NamedTuple):
    """One run of one model: its stages, in an order in which they can run.

    Attributes:
        model: the model's name.
        run_name: the model, or `pan@Ascend310B1-force_fp16` with overrides; names the
            folder below `build/` and the tasks.
        folder: the pipeline folder, relative to the repository.
        roots: name -> absolute folder, from `[tool.ascendflow] roots`.
        stages: what to run, producers first.
    """

    model: str
    run_name: str
    folder: str
    roots: dict[str, str]
    stages: tuple[PlannedStage, ...]

    def stage(self, name: str) -> PlannedStage:
        """Return the stage called `name`; raises KeyError when there is none."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(name)

    def task_of(self, stage: str) -> str:
        """Name the task of a stage, as a user asks for it."""
        return f"{stage}:{self.run_name}"

    def all_of(self, kind: str) -> list[PlannedStage]:
        """List the stages of one kind: one, or one for each backend."""
        return [stage for stage in self.stages if stage.kind == kind]

    def report_of(self, gate: PlannedStage) -> PlannedStage | None:
        """Return the stage that reports what a gate judged."""
        of_branch = (each for each in self.all_of("report") if each.branch == gate.branch)
        return next(of_branch, None)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON data."""
        return {**self._asdict(), "stages": [stage._asdict() for stage in self.stages]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """Make a plan from what `to_json` gave; KeyError or TypeError on other data."""
        stages = tuple(_stage_from_json(stage) for stage in data["stages"])
        return cls(**{**data, "stages": stages})


LISTS = ("guards", "outputs", "tools", "modules", "warnings_of")


def _stage_from_json(data: Mapping[str, Any]) -> PlannedStage:
    lists = {name: tuple(data[name]) for name in LISTS}
    return PlannedStage(**{**data, **lists})


def modules_of(stage: type[Stage], config: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the modules that make or run a stage's child, and that no import shows."""
    child = ("ascendflow.child.command", "ascendflow.stages.__main__")
    return (*child, stage.__module__, *_chosen_by(config))


def _chosen_by(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the modules that a slice brings in."""
    from ascendflow.backends import BACKENDS

    backend = dict(BACKENDS).get(config.get("backend", ""), "").partition(":")[0]
    return (*([CHOOSES_RULES] if config.get("auto") else []), *filter(None, [backend]))


def modules_under(stage: PlannedStage, config: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the modules that a stage would have with another slice of the manifest."""
    chosen = _chosen_by(stage.config)
    kept = [module for module in stage.modules if module not in chosen]
    return (*kept, *_chosen_by(config))
