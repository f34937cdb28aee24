"""That a run is up to date, kept as what `stat` says of everything that was looked at.

To judge a stage again, its record is read and its key put together anew. While no file,
folder or tool that was looked at has changed, the answer cannot have either, and a dozen
`stat`s a stage say so in a tenth of the time.

A proof is written in two runs, neither of which finds anything stale: the first notes what
there is to look at; the second looks first and judges then, so that what it judged is
what it had seen, or newer, and then what it had seen no longer holds.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ascendflow.build.contents import Contents, states_of
from ascendflow.build.project import PLAN, RECORD
from ascendflow.cache import machine
from ascendflow.cache.files import write_disposable
from ascendflow.cache.sources import SETTLED_NS
from ascendflow.cache.tools import versions
from ascendflow.errors import AscendflowError
from ascendflow.reads.names import changed_ns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ascendflow.build.project import Project
    from ascendflow.documents.record import Record
    from ascendflow.plan import Plan

SCHEMA = 1


class Proof(NamedTuple):
    """What an up-to-date run is asked for.

    Attributes:
        keys: stage -> key of its record.
        warnings: stage -> what it warned of.
    """

    keys: dict[str, str]
    warnings: dict[str, list[str]]


class Proofs:
    """The proofs of one process: each is looked at once, until something is found stale."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, Proof | None] = {}
        self._seen: dict[str, dict[str, Any]] = {}
        self._is_over = False

    def of(self, plan: Plan) -> Proof | None:
        """Return the proof that all stages of `plan` are up to date, or None."""
        if self._is_over or plan.run_name in self._project.new_plans:
            return None  # plan.json may be that of another plan: it may not be writable
        if plan.run_name not in self._known:
            self._known[plan.run_name] = self._look(plan)
        return self._known[plan.run_name]

    def drop(self) -> None:
        """Believe no proof from now on: files are about to change."""
        self._is_over = True

    def note(self, plan: Plan, records: dict[str, Record]) -> None:
        """Keep what there is to look at, of a run all of whose stages were judged.

        Args:
            plan: the run.
            records: stage -> its record, of each stage of the plan.
        """
        if self._is_over or self._known.get(plan.run_name) is not None:
            return
        present, missing = _looked_at(self._project, plan, records)
        wanted = {
            **self._surroundings(plan, _tools(records)),
            "states": states_of(present),
            "missing": missing,
            "keys": {stage: record["key"] for stage, record in records.items()},
            "warnings": {stage: record["warnings"] for stage, record in records.items()},
        }
        seen = self._seen.get(plan.run_name)
        judged = seen == wanted and _are_settled(wanted["states"])
        if judged:
            self._contents(plan).note(wanted["states"])
        self._write(plan, {**wanted, "judged": judged})

    def _write(self, plan: Plan, proof: dict[str, Any]) -> None:
        with suppress(AscendflowError):  # it is kept only to save the next run's time
            write_disposable(self._path(plan), json.dumps(proof).encode("ascii"))

    def _look(self, plan: Plan) -> Proof | None:
        """Look at all that was looked at; keep what is there now for `note`."""
        try:
            with open(self._path(plan), "rb") as file:
                kept = json.loads(file.read())
            judged = kept.pop("judged")
            now = {
                **kept,
                **self._surroundings(plan, kept["tools"]),
                "states": states_of(kept["states"]),
                "missing": _still_missing(kept["missing"]),
            }
            self._seen[plan.run_name] = now
            if judged is True and (now == kept or self._says_the_same(plan, now, kept)):
                return Proof(kept["keys"], kept["warnings"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return None

    def _says_the_same(self, plan: Plan, now: dict[str, Any], kept: dict[str, Any]) -> bool:
        """Whether only states differ, and no content; kept by its new states then."""
        if {**now, "states": kept["states"]} != kept:
            return False
        states = now["states"]
        changed = [path for path, state in kept["states"].items() if states[path] != state]
        contents = self._contents(plan)
        lay_there = contents.of(kept["states"])
        if not contents.lie_there(lay_there, changed):
            return False
        if _are_settled(states):
            contents.keep(states, lay_there)
            self._write(plan, {**now, "judged": True})
        return True

    def _contents(self, plan: Plan) -> Contents:
        path = os.path.join(self._project.state, "contents", f"{plan.run_name}.json")
        return Contents(path, self._project.index)

    def _surroundings(self, plan: Plan, tools: Iterable[str]) -> dict[str, Any]:
        """Tell what counts beside files; where names lead to is looked up anew."""
        places = self._project.places_of(plan)
        return {
            "schema": SCHEMA,
            "build": str(self._project.build_folder(plan.run_name)),
            "folder": str(places.folder),
            "repository": str(places.repository),
            "beside": str(places.beside),
            "roots": {name: str(root) for name, root in places.roots.items()},
            "ascendflow": self._project.package_digest(),
            "python": sys.version,
            "platform": machine.describe(floats=True),
            "tools": versions((), optional=tools),
        }

    def _path(self, plan: Plan) -> str:
        return os.path.join(self._project.state, "proofs", f"{plan.run_name}.json")


def _tools(records: dict[str, Record]) -> list[str]:
    return sorted(
        {
            name
            for record in records.values()
            for names in (record["fingerprint"]["tools"], record["reads"]["distributions"])
            for name in names
        }
    )


def _looked_at(
    project: Project, plan: Plan, records: dict[str, Record]
) -> tuple[list[str], list[str]]:
    """List the paths whose state a judgement rests on, and those that must not be there."""
    resolve = project.places_of(plan).path
    present = {str(project.build_folder(plan.run_name) / PLAN)}
    missing: set[str] = set()
    for stage in plan.stages:
        folder, reads = project.stage_path(plan, stage.name), records[stage.name]["reads"]
        present.add(f"{folder}/{RECORD}")
        for role in stage.outputs:
            present.update(_with_all_below(f"{folder}/{role}"))
        for name in stage.files.values():
            present.update(_with_all_below(str(resolve(name))))
        present.update(str(resolve(name)) for name in (*reads["files"], *reads["folders"]))
        missing.update(str(resolve(name)) for name in reads["missing"])
    return sorted(present), sorted(missing)


def _with_all_below(path: str) -> Iterator[str]:
    yield path
    for folder, folders, names in os.walk(path):
        yield from (os.path.join(folder, name) for name in (*folders, *names))


def _still_missing(paths: Iterable[str]) -> list[str]:
    """Leave out what is there by now; what no folder holds takes one look for all of it.

    Most of it is what would take a module's place: five of its names are in one folder.
    """
    folders: dict[str, bool] = {}
    missing = []
    for path in paths:
        folder = os.path.dirname(path)
        if folder not in folders:
            folders[folder] = os.path.isdir(folder)
        if not (folders[folder] and os.path.lexists(path)):
            missing.append(path)
    return missing


def _are_settled(states: Mapping[str, str]) -> bool:
    """Whether a further change of any would show in its ctime."""
    latest = max(map(changed_ns, states.values()))
    return latest < time.time_ns() - SETTLED_NS
