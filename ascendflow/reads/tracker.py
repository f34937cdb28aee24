"""What a stage read, from all that can tell."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.errors import InternalError, StageError
from ascendflow.reads.audit import AuditTrail, is_among
from ascendflow.reads.distributions import distributions_of
from ascendflow.reads.modules import module_files, shadows
from ascendflow.reads.observer import Observer
from ascendflow.reads.territory import Kind, site_folders, source_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ascendflow.reads.territory import Territory

SHOWN = 5
"""How many files an error names."""


@dataclass(frozen=True)
class Reads:
    """Names of what was read, each sorted.

    Attributes:
        files: files below the pipeline folder, the repository or a root.
        folders: folders there whose entries were listed.
        missing: names there that were tried and not found.
        states: name of what Python opened or listed -> its identity when it first did.
        appeared: names in `states` of what came into being meanwhile, and not by Python:
            a subprocess made it, or another program.
        distributions: installed distributions of which a module or file was read.
        warnings: why reads by native code and subprocesses are not among them, and declared
            reads that match nothing.
    """

    files: tuple[str, ...]
    folders: tuple[str, ...]
    missing: tuple[str, ...]
    states: Mapping[str, str]
    appeared: tuple[str, ...]
    distributions: tuple[str, ...]
    warnings: tuple[str, ...]


class Tracker:
    """Records reads between `start` and `stop`."""

    def __init__(self, territory: Territory, python_path: Sequence[str]) -> None:
        self._territory = territory
        self._python_path = python_path
        self._audit = AuditTrail()
        self._observer: Observer | None = None
        self._at_start: set[str] = set()
        self._appeared: set[str] = set()
        self._declared: set[str] = set()
        self._warnings: list[str] = []

    def start(self, *, observe: bool) -> None:
        """Begin.

        Args:
            observe: also see what native code and subprocesses open. Not for a stage that
                runs no user code: then all this could see is other programs' reads.
        """
        self._at_start = set(module_files())  # what a .pth file imports is Python's own
        if observe:
            places = self._territory.places
            folders = {places.folder, places.repository, *places.roots.values()}
            skip = {*self._territory.skipped(), *site_folders()}
            self._observer = Observer(sorted(map(str, folders)), skip)
        self._audit.start()

    def declare(self, patterns: Iterable[str]) -> None:
        """Count files as read that match a pattern below the pipeline folder.

        Args:
            patterns: globs, `**` included; `root:pattern` starts at that root.
        """
        for pattern in patterns:
            name = pattern if ":" in pattern else f"pipeline:{pattern}"
            path = str(self._territory.places.resolve(name))
            # Called while the audit hook listens, so that the folders count as listed.
            found = set(filter(os.path.isfile, glob.glob(path, recursive=True)))
            if not found:
                self._warnings.append(f"the declared read {pattern!r} matches no file")
            self._declared |= found

    def stop(self) -> Reads:
        """End, and sort out what counts.

        Raises:
            StageError: a file was read that lies in no known place; or reads were lost.
            InternalError: the record cannot be trusted.
        """
        self._audit.stop()
        if self._audit.broken is not None:
            raise InternalError("recording reads failed") from self._audit.broken
        modules = module_files()
        for name in self._at_start:
            modules.pop(name, None)
        native = self._stop_observer()
        opened = self._audit.opened | self._declared | native | set(modules.values())
        # Copies, since a thread that was left behind may still be in the hook.
        files = self._sort(filter(self._may_be_input, set(map(source_of, opened))))
        folders = self._sort(filter(self._may_be_input, set(self._audit.listed)))
        users = {n: f for n, f in modules.items() if source_of(f) in files[Kind.INPUT]}
        absent = {p for p in shadows(users, self._python_path) if not os.path.exists(p)}
        missing = self._sort(self._audit.missing | absent)
        read = files[Kind.INPUT] | folders[Kind.INPUT]
        states = {p: s for p, s in dict(self._audit.states).items() if p in read}
        _refuse(files[Kind.OUTSIDE] | folders[Kind.OUTSIDE])
        installed = map(os.path.realpath, files[Kind.INSTALLED])
        return Reads(
            files=self._names(files[Kind.INPUT]),
            folders=self._names(folders[Kind.INPUT]),
            missing=self._names(missing[Kind.INPUT]),
            states=self._states(states),
            appeared=self._names(filter(self._has_appeared, states)),
            distributions=tuple(sorted(distributions_of(installed, site_folders()))),
            warnings=tuple(self._warnings),
        )

    def _stop_observer(self) -> set[str]:
        if self._observer is None:
            return set()
        if self._observer.trouble is not None:
            self._warnings.append(
                "what native code and subprocesses read is not known "
                f"({self._observer.trouble}); name it in `samples.reads`"
            )
        opened, self._appeared, replaced = self._observer.stop()
        _refuse_replaced(self._sort(replaced)[Kind.INPUT])
        return opened - set(map(os.path.realpath, self._audit.written))

    def _sort(self, paths: Iterable[str]) -> dict[Kind, set[str]]:
        by_kind: dict[Kind, set[str]] = {kind: set() for kind in Kind}
        for path in paths:
            real = os.path.realpath(path)
            if self._audit.is_created(path) or self._audit.is_created(real):
                continue
            by_kind[self._territory.kind(real)].add(path)
        return by_kind

    def _may_be_input(self, path: str) -> bool:
        """Whether it was there at the start, or Python found it and it is still there.

        What a subprocess makes and takes away again is no input.
        """
        if not self._has_appeared(path):
            return True
        return path in self._audit.states and os.path.exists(path)

    def _has_appeared(self, path: str) -> bool:
        real = os.path.realpath(path)
        return is_among(path, self._appeared) or is_among(real, self._appeared)

    def _states(self, states: Mapping[str, str]) -> dict[str, str]:
        named: dict[str, str] = {}
        for path, state in states.items():
            for name in self._names([path]):
                # Two paths to one file that found different ones: neither holds.
                named[name] = state if named.get(name, state) == state else ""
        return dict(sorted(named.items()))

    def _names(self, paths: Iterable[str]) -> tuple[str, ...]:
        # A path through a link keeps its own name: the link may be turned elsewhere.
        name = self._territory.places.name
        names = {name(path) or name(os.path.realpath(path)) for path in paths}
        return tuple(sorted(filter(None, names)))


def _refuse_replaced(folders: set[str]) -> None:
    if folders:
        shown = ", ".join(sorted(folders)[:SHOWN])
        raise StageError(
            f"{shown} was replaced by another folder while the stage ran, "
            "so that not all reads are known and nothing can be recorded",
            hint="run the same command again",
        )


def _refuse(outside: set[str]) -> None:
    if not outside:
        return
    shown = ", ".join(sorted(outside)[:SHOWN])
    more = f" and {len(outside) - SHOWN} more" if len(outside) > SHOWN else ""
    raise StageError(
        f"read {shown}{more}: outside of the repository and its roots, so that a "
        "change there would not be noticed",
        hint="name its folder in pyproject.toml, below [tool.ascendflow]: "
        'roots = {name = "folder"}',
    )
