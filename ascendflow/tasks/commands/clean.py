"""`doit clean [TASK...]`: remove folders of `build/`, and name each once."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from doit.cmd_clean import Clean as DoitClean

from ascendflow.build.project import PLAN
from ascendflow.tasks.commands.command import WithoutTraceback
from ascendflow.tasks.removal import RemoveFolder
from ascendflow.tasks.selection import PIPELINES, all_models
from ascendflow.tasks.session import SESSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doit.task import Task


class Clean(WithoutTraceback, DoitClean):
    """doit's own, which would name each stage's folder, and exit with 0 where it failed."""

    name = "clean"
    doc_purpose = "remove artifacts from build/; the store keeps what it has"

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        """Clean, after a run that is going on; 3 where a folder cannot be removed."""
        SESSION.executes = True
        return super().execute(opt_values, pos_args)

    def clean_tasks(self, tasks: list[Task], dryrun: bool, cleanforget: bool) -> None:
        """Remove what the tasks made; a folder takes what is inside with it."""
        verb = "would remove" if dryrun else "removed"
        asked = _outermost(_removals(tasks))
        there = [removal for removal in asked if _exists(removal)]
        SESSION.asked_runs = lambda: {removal.run_name for removal in there}
        for removal in there:
            if not dryrun:
                removal.execute()
            self.outstream.write(f"{verb} {removal.folder}\n")
        if not there:
            self.outstream.write("nothing to remove\n")
        for line in _left({each.run_name for each in asked if each.is_whole}):
            self.outstream.write(f"{line}\n")
        super().clean_tasks(tasks, dryrun, cleanforget)


def _removals(tasks: Iterable[Task]) -> Iterator[RemoveFolder]:
    """Yield the removals that tasks of ours ask for, and take them from the tasks."""
    for task in tasks:
        ours = [a for a in task.clean_actions if isinstance(a, RemoveFolder)]
        yield from ours
        task.clean_actions = [a for a in task.clean_actions if a not in ours]


def _outermost(removals: Iterable[RemoveFolder]) -> list[RemoveFolder]:
    named = {removal.folder: removal for removal in removals}
    return [
        named[folder]
        for folder in sorted(named)
        if not named.keys() & {p.as_posix() for p in PurePosixPath(folder).parents}
    ]


def _left(cleaned: set[str]) -> Iterator[str]:
    """Say which folders stay: of cleaned models, what was built for other targets.

    And those of models that are no more, where all that there are were cleaned.
    """
    repository = SESSION.project.repository
    models = set(all_models(repository))
    for plan in sorted(repository.glob(f"build/*/{PLAN}")):
        name = plan.parent.name
        model, _, target = name.partition("@")
        if name not in cleaned and model in cleaned:
            soc, _, mode = target.partition("-")
            other = f"model={model} soc={soc} precision={mode}"
            yield f"left build/{name}: `doit clean {other}` removes it"
        elif model not in models and models <= cleaned:
            gone = f"there is no {PIPELINES}/{model} any more"
            yield f"left build/{name}: {gone}, so remove the folder by hand"


def _exists(removal: RemoveFolder) -> bool:
    return os.path.lexists(SESSION.project.repository / removal.folder)
