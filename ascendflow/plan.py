"""Manifest -> Plan: frozen stages with their slices, inputs and outputs; runs nothing.

A plan is plain data, kept as JSON, so that an up-to-date run needs neither the manifest
models nor the stages themselves. Named tuples, since dataclasses take ten times as long to
make, which such a run would notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ascendflow.cache.digest import canonical_json
from ascendflow.errors import NotModelledError, PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.manifest.load import LoadedManifest
    from ascendflow.reads.names import Places
    from ascendflow.stages.stage import Stage

GUARDS = {"convert": ("check", "lint")}
"""Stage -> stages that must hold before it: no artifact of theirs is in its key, so that a
new sample is checked and converts nothing anew, and a new word of lint neither."""

CHOOSES_RULES = "ascendflow.cann.auto"
"""Loaded by its name, so that without `rules: auto` deviations are no code of rewrite."""

WARNINGS = "warnings.json"
"""A role that no stage makes: what the records of all stages before it warn of."""


class PlannedStage(NamedTuple):
    """All that decides one stage's outputs, but for the contents of its inputs.

    Attributes:
        name: the stage.
        config: its slice of the manifest, defaults filled in.
        inputs: role -> the stage that makes it.
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


def make_plan(
    loaded: LoadedManifest, *, run_name: str, places: Places, roots: Mapping[str, Path]
) -> Plan:
    """Plan every stage of a manifest.

    Args:
        loaded: a manifest that holds.
        run_name: what the run is called.
        places: names the files that the manifest names.
        roots: folders beside the repository that inputs may lie in.

    Raises:
        NotModelledError: the backend refuses the target.
        PlanError: a role has no producer, or stages wait for each other.
    """
    from ascendflow.manifest.slices import SLICES
    from ascendflow.stages import STAGES, load_stage

    classes = {name: load_stage(name) for name, _ in STAGES}
    slices = {name: SLICES[name](loaded.manifest) for name in classes}
    canonical_json(slices)  # refuses a key that is no text: keys are made without a look
    _refuse_target(slices["convert"], loaded)
    producers = _producers(classes)
    planned = {
        name: _plan_stage(stage, slices[name], loaded, producers, places)
        for name, stage in classes.items()
    }
    return Plan(
        model=loaded.manifest.model,
        run_name=run_name,
        folder=f"pipelines/{loaded.manifest.model}",
        roots={name: str(path) for name, path in roots.items()},
        stages=tuple(planned[name] for name in _in_order(planned)),
    )


def _refuse_target(target: Mapping[str, Any], loaded: LoadedManifest) -> None:
    from ascendflow.backends import load_backend

    if (reason := load_backend(target["backend"]).refuse(target)) is not None:
        where = f"pipelines/{loaded.manifest.model}/manifest.yaml: convert"
        if loaded.overrides:
            said = " ".join(loaded.overrides)
            where = f"{said} on the command line, the rest of {where}"
        raise NotModelledError(f"{where}: {reason}")


def _producers(classes: Mapping[str, type[Stage]]) -> dict[str, str]:
    """Map each role to the stage that makes it; a role made twice is an error."""
    producers: dict[str, str] = {}
    for name, stage in classes.items():
        for role in stage.produces:
            if role in producers:
                raise PlanError(
                    f"{role!r} is made by both {producers[role]!r} and {name!r}"
                )
            producers[role] = name
    return producers


def _plan_stage(
    stage: type[Stage],
    config: dict[str, Any],
    loaded: LoadedManifest,
    producers: Mapping[str, str],
    places: Places,
) -> PlannedStage:
    if unmade := sorted(stage.consumes - producers.keys() - {WARNINGS}):
        needs = ", ".join(unmade)
        raise PlanError(f"stage {stage.name!r} needs {needs}, which no stage makes")
    limits = loaded.manifest.limits
    return PlannedStage(
        name=stage.name,
        config=config,
        inputs={role: producers[role] for role in sorted(stage.consumes - {WARNINGS})},
        guards=GUARDS.get(stage.name, ()),
        files=_named(loaded.files.get(stage.name, {}), places),
        outputs=tuple(sorted(stage.produces)),
        tools=tuple(sorted(stage.tools(config))),
        modules=_modules(stage, config),
        computes_floats=stage.computes_floats,
        environment=dict(loaded.manifest.environment),
        threads=config.get("threads", 1),
        timeout_s=limits.timeout_s,
        memory_gb=limits.memory_gb,
        warnings_of=_before(stage, producers) if WARNINGS in stage.consumes else (),
    )


def _before(stage: type[Stage], producers: Mapping[str, str]) -> tuple[str, ...]:
    """Name the stages that the registry has before this one, in its order."""
    names = list(dict.fromkeys(producers.values()))
    return tuple(names[: names.index(stage.name)])


def _named(files: Mapping[str, Path], places: Places) -> dict[str, str]:
    named = {}
    for role, path in files.items():
        if (name := places.name(path)) is None:
            raise PlanError(f"{path} is neither in the repository nor below a root")
        named[role] = name
    return named


def _modules(stage: type[Stage], config: Mapping[str, Any]) -> tuple[str, ...]:
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


def _in_order(planned: Mapping[str, PlannedStage]) -> list[str]:
    """Order stages, producers first; in registry order where there is a choice."""
    from graphlib import CycleError, TopologicalSorter

    graph = {name: stage.after for name, stage in planned.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = " -> ".join(error.args[1])
        raise PlanError(f"stages wait for each other: {cycle}") from error
    ordered: list[str] = []
    waiting = list(planned)
    while waiting:
        ready = next(name for name in waiting if set(graph[name]) <= set(ordered))
        ordered.append(ready)
        waiting.remove(ready)
    return ordered
