"""Manifest -> Plan: which stages there are, and what each is given; runs nothing.

A manifest that names several backends has the stages that depend on one once for each.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, NamedTuple

from ascendflow.backends import load_backend
from ascendflow.cache.digest import canonical_json
from ascendflow.errors import NotModelledError, PlanError
from ascendflow.manifest.backends import alone
from ascendflow.manifest.slices import SLICES
from ascendflow.plan import (
    OF_SEVERAL,
    WARNINGS,
    Plan,
    PlannedStage,
    branch_of,
    made_as,
    modules_of,
    named,
)
from ascendflow.stages import STAGES, load_stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ascendflow.manifest.load import LoadedManifest
    from ascendflow.reads.names import Places
    from ascendflow.stages.stage import Stage

PER_BACKEND = ("lint", "convert", "infer", "compare", "evaluate", "gate", "report")
"""Stages that a manifest with several backends has once for each: `convert@cann`."""

OF_EACH = "*/"
"""Begins a role that a stage takes of each backend: "*/metrics.json"."""

GUARDS = {"convert": ("check", "lint")}
"""Stage -> stages that must hold before it: no artifact of theirs is in its key, so that a
new sample is checked and converts nothing anew, and a new word of lint neither."""


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
    classes = {name: load_stage(name) for name, _ in STAGES}
    planner = _Planner(_producers(classes), loaded.manifest.convert.backend, places)
    planned = {
        name: planner.plan(classes[kind], name, told)
        for name, kind, told in _instances(classes, loaded)
    }
    return Plan(
        model=loaded.manifest.model,
        run_name=run_name,
        folder=f"pipelines/{loaded.manifest.model}",
        roots={name: str(path) for name, path in roots.items()},
        stages=tuple(planned[name] for name in _in_order(planned)),
    )


def _instances(
    classes: Iterable[str], loaded: LoadedManifest
) -> Iterator[tuple[str, str, LoadedManifest]]:
    """Yield name, kind and manifest of each stage, all of a backend before the next's.

    The manifest of a backend's stage is as if it named no other.
    """
    backends = loaded.manifest.convert.backend
    several = len(backends) > 1
    shared = [kind for kind in classes if kind not in (*PER_BACKEND, *OF_SEVERAL)]
    yield from ((kind, kind, loaded) for kind in shared)
    for backend in backends:
        told = alone(loaded, backend)
        for kind in (kind for kind in classes if kind in PER_BACKEND):
            yield named(kind, backend if several else ""), kind, told
    if several:
        yield from ((kind, kind, loaded) for kind in classes if kind in OF_SEVERAL)


def _refuse_target(target: Mapping[str, Any], loaded: LoadedManifest) -> None:
    if (reason := load_backend(target["backend"]).refuse(target)) is None:
        return
    if loaded.overrides:
        said = " ".join(loaded.overrides)
        where = f"{said} on the command line, the rest of {loaded.file}: convert: "
    else:
        key, _, reason = reason.partition(" ")
        if ("convert", key) not in loaded.lines and key == "precision_mode":
            key = "precision_mode_v2"  # the other spelling
        where = f"{loaded.place(('convert', key))}: convert.{key} "
    raise NotModelledError(f"{where}{reason}")


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


class _Planner(NamedTuple):
    """What the stages of one plan have in common.

    Attributes:
        producers: role -> the kind of stage that makes it.
        backends: all that the manifest names.
        places: names the files that the manifest names.
    """

    producers: Mapping[str, str]
    backends: tuple[str, ...]
    places: Places

    def plan(self, stage: type[Stage], name: str, loaded: LoadedManifest) -> PlannedStage:
        """Plan one stage by what its manifest says."""
        config = SLICES[stage.name](loaded.manifest)
        canonical_json(config)  # refuses a key that is no text, which nobody does later
        if stage.name == "convert":
            _refuse_target(config, loaded)
        branch = branch_of(name)
        limits = loaded.manifest.limits
        return PlannedStage(
            name=name,
            config=config,
            inputs=self._inputs(stage, branch),
            guards=tuple(_of(kind, branch) for kind in GUARDS.get(stage.name, ())),
            files=_read_names(loaded.files.get(stage.name, {}), self.places),
            outputs=tuple(sorted(stage.produces)),
            tools=tuple(sorted(stage.tools(config))),
            modules=modules_of(stage, config),
            computes_floats=stage.computes_floats,
            environment=dict(loaded.manifest.environment),
            threads=config.get("threads", 1),
            timeout_s=limits.timeout_s,
            memory_gb=limits.memory_gb,
            warnings_of=self._before(stage, branch) if WARNINGS in stage.consumes else (),
        )

    def _inputs(self, stage: type[Stage], branch: str) -> dict[str, str]:
        inputs: dict[str, str] = {}
        for role in sorted(stage.consumes - {WARNINGS}):
            if (kind := self.producers.get(made_as(role))) is None:
                raise PlanError(f"stage {stage.name!r} needs {role}, which no stage makes")
            if not role.startswith(OF_EACH):
                inputs[role] = _of(kind, branch)
                continue
            for backend in self.backends:
                inputs[f"{backend}/{made_as(role)}"] = _of(kind, backend)
        return inputs

    def _before(self, stage: type[Stage], branch: str) -> tuple[str, ...]:
        """Name the stages that the registry has before this one, in its order."""
        names = list(dict.fromkeys(self.producers.values()))
        return tuple(_of(kind, branch) for kind in names[: names.index(stage.name)])


def _of(kind: str, branch: str) -> str:
    """Name the stage of a kind that serves a branch."""
    return named(kind, branch if kind in PER_BACKEND else "")


def _read_names(files: Mapping[str, Path], places: Places) -> dict[str, str]:
    found = {}
    for role, path in files.items():
        if (name := places.name(path)) is None:
            raise PlanError(f"{path} is neither in the repository nor below a root")
        found[role] = name
    return found


def _in_order(planned: Mapping[str, PlannedStage]) -> list[str]:
    """Order stages, producers first; in registry order where there is a choice."""
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
