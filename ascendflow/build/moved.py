"""Refuse to record what a stage made if anything it was given or read moved meanwhile.

A content that is the same at the end may have been another one in between. So what tells
two states of a file apart is compared too.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.errors import StageError
from ascendflow.reads.names import identity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ascendflow.build.execute import Execution
    from ascendflow.build.project import Project
    from ascendflow.plan import Plan, PlannedStage

AGAIN = "run the same command again"
_SECOND = 1_000_000_000


class Moment(NamedTuple):
    """A time, as the file system stamps files, and by a clock that nobody can set.

    All in nanoseconds. By the clock it is known to lie between two times: this process may
    have been stopped for seconds before or after the stamp.
    """

    ctime_ns: int
    earliest_ns: int
    latest_ns: int


def moment(path: Path) -> Moment:
    """Touch a file and return the time."""
    earliest_ns = time.monotonic_ns()
    os.utime(path)
    return Moment(path.stat().st_ctime_ns, earliest_ns, time.monotonic_ns())


States = dict[str, list[str]]
"""Role of an input -> what tells the state of its files, folders and links."""


def input_states(project: Project, plan: Plan, stage: PlannedStage) -> States:
    """Look at the files of all inputs, without reading them."""
    places = project.places_of(plan)
    states: States = {}
    for role, by in stage.inputs.items():
        states[role] = list(_artifact_states(project.artifact(plan, by, role)))
    for role, name in stage.files.items():
        states[role] = list(_file_states(Path(places.resolve(name))))
    return states


def refuse_moved_inputs(
    stage: str, before: Mapping[str, object], after: Mapping[str, object]
) -> None:
    """Refuse if an input is another one than before, by digests or by states.

    Raises:
        StageError: names the roles.
    """
    if moved := [role for role in before if after[role] != before[role]]:
        raise StageError(
            f"{stage}: input {', '.join(moved)} changed while the stage ran, "
            "so nothing was recorded",
            hint=AGAIN,
        )


def refuse_edited_reads(
    project: Project, plan: Plan, stage: PlannedStage, run: Execution
) -> None:
    """Refuse if a file or folder that the child read changed since it was started.

    Raises:
        StageError: names them; or the clock was set back, so that it cannot be known.
    """
    resolve = project.places_of(plan).resolve
    ended = moment(run.work / "spec.json")
    _refuse_clock(stage.name, run.started, ended)
    said: Mapping[str, Sequence[str]] = run.result["reads"]
    states: Mapping[str, str] = run.result["states"]
    began = dict.fromkeys(run.result["appeared"], ended)  # its state alone can tell
    edited = [
        name
        for name in (*said["files"], *said["folders"])
        if _is_another(Path(resolve(name)), states.get(name))
        or _changed_between(Path(resolve(name)), began.get(name, run.started), ended)
    ]
    if edited:
        raise StageError(
            f"{stage.name}: {', '.join(edited)} was edited while the stage ran, "
            "so nothing was recorded",
            hint=AGAIN,
        )


def _refuse_clock(stage: str, started: Moment, ended: Moment) -> None:
    took_ns = ended.earliest_ns - started.latest_ns  # at least
    lost_ns = took_ns - (ended.ctime_ns - started.ctime_ns)
    # A file server's clock may go a little slower than ours.
    if lost_ns > _SECOND // 10 + took_ns // 1000:
        raise StageError(
            f"{stage}: the clock was set back by {lost_ns / _SECOND:.1f} s while the stage "
            "ran, so what was edited meanwhile cannot be told and nothing was recorded",
            hint=AGAIN,
        )


def _is_another(path: Path, state: str | None) -> bool:
    """Whether what is there is not what Python opened.

    A folder that was put in the place of another brings files that nobody edited.
    """
    try:
        return state is not None and identity(path.stat()) != state
    except OSError:
        return True


def _changed_between(path: Path, started: Moment, ended: Moment) -> bool:
    """Whether what is there changed, or a link on the way, which may lead elsewhere.

    A ctime that is yet to come is from before the clock was set back, days ago perhaps.
    """
    try:
        stats = [path.stat(), *(link.lstat() for link in _links_on_the_way(path))]
    except OSError:
        return True
    return any(started.ctime_ns < stat.st_ctime_ns <= ended.ctime_ns for stat in stats)


def _file_states(path: Path) -> Iterator[str]:
    try:
        yield from (identity(way.lstat()) for way in (path, *_links_on_the_way(path)))
        yield identity(path.stat())
    except OSError:  # that it is missing is told by its digest
        return


def _artifact_states(path: Path) -> Iterator[str]:
    """Tell the states of an artifact; stages link its files, which is no change of them.

    A file that is put in the place of another shows in its folder's state.
    """
    try:
        yield identity(path.parent.stat())
        yield _unlinked(path.lstat())
    except OSError:
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        yield identity(os.stat(folder))
        yield from (_unlinked(os.lstat(os.path.join(folder, n))) for n in sorted(names))


def _unlinked(stat: os.stat_result) -> str:
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"


def _links_on_the_way(path: Path) -> list[Path]:
    return [way for way in (path, *path.parents) if way.is_symlink()]
