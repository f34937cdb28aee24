"""Plans of the selected models, from `build/<run>/plan.json` while nothing changed."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from ascendflow.build.project import PLAN
from ascendflow.cache.files import write_bytes
from ascendflow.errors import AscendflowError
from ascendflow.plan import Plan
from ascendflow.tasks.selection import MANIFEST, PIPELINES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.build.project import Project
    from ascendflow.tasks.variables import Variables


def plan_of(project: Project, model: str, variables: Variables) -> Plan:
    """Return the plan of one model, made anew only if what it is made from changed.

    Raises:
        AscendflowError: the manifest is wrong, or the target is not modelled.
    """
    made_from = _made_from(project, model, variables)
    for path in _candidates(project, model, variables):
        if (plan := _kept_plan(path, made_from)) is not None:
            return plan
    plan, leads = _new_plan(project, model, variables)
    project.new_plans.add(plan.run_name)
    path = os.path.join(project.build_folder(plan.run_name), PLAN)
    kept = {"made_from": made_from, "leads": leads, "plan": plan.to_json()}
    text = json.dumps(kept, sort_keys=True)
    with suppress(AscendflowError):  # it is kept only to save the next run's time
        write_bytes(path, f"{text}\n".encode())
    return plan


def _made_from(project: Project, model: str, variables: Variables) -> dict[str, Any]:
    """All that decides a plan, as digests."""
    manifest = os.path.join(project.repository, PIPELINES, model, MANIFEST)
    return {
        "manifest": project.index.digest(manifest),
        **_made_from_for_all(project, variables),
    }


@cache
def _made_from_for_all(project: Project, variables: Variables) -> dict[str, Any]:
    folder = os.fspath(project.repository)
    pyproject = os.path.join(folder, "pyproject.toml")
    return {
        "pyproject": project.index.digest(pyproject) if os.path.exists(pyproject) else None,
        "ascendflow": project.package_digest(),
        # The folders of roots are kept as they are from here.
        "repository": folder,
        "home": os.path.expanduser("~"),
        "soc": variables.soc,
        "precision": variables.precision,
    }


def _candidates(project: Project, model: str, variables: Variables) -> Iterator[str]:
    """Where the plan may be kept; a variant's folder spells defaults not known yet."""
    if variables.soc is None and variables.precision is None:
        yield os.path.join(project.build_folder(model), PLAN)
    else:
        pattern = f"{model}@{variables.soc or '*'}-{variables.precision or '*'}"
        found = (project.repository / "build").glob(f"{pattern}/{PLAN}")
        yield from sorted(map(str, found))


def _kept_plan(path: str, made_from: dict[str, Any]) -> Plan | None:
    try:
        with open(path, "rb") as file:
            kept = json.loads(file.read())
        if kept["made_from"] != made_from or not _still_lead(kept["leads"]):
            return None
        return Plan.from_json(kept["plan"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _still_lead(leads: dict[str, str]) -> bool:
    """Whether no link on the way to a file that the manifest names was turned elsewhere."""
    return all(os.path.realpath(name) == path for name, path in leads.items())


def _new_plan(
    project: Project, model: str, variables: Variables
) -> tuple[Plan, dict[str, str]]:
    """Make a plan; also returns where the manifest's files lead, by absolute path."""
    from ascendflow.manifest.load import load_manifest
    from ascendflow.manifest.paths import read_roots
    from ascendflow.planner import make_plan

    roots = read_roots(project.repository)
    loaded = load_manifest(
        project.repository / PIPELINES / model / MANIFEST,
        repository=project.repository,
        roots=roots,
        soc=variables.soc,
        precision=variables.precision,
    )
    run_name = model
    if variables.soc is not None or variables.precision is not None:
        target = loaded.manifest.convert
        mode = target.precision_mode_v2 or target.precision_mode
        run_name = f"{model}@{target.soc_version}-{mode}"
    places = project.places(f"{PIPELINES}/{model}", {n: str(p) for n, p in roots.items()})
    plan = make_plan(loaded, run_name=run_name, places=places, roots=roots)
    return plan, {str(name): str(path) for name, path in loaded.leads.items()}
