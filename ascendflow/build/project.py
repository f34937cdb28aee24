"""A repository with pipelines: where everything lies, and what is known of it."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ascendflow.build.ahead import Ahead
from ascendflow.cache.digest import digest_json
from ascendflow.cache.index import Index
from ascendflow.cache.sources import Sources
from ascendflow.errors import AscendflowError
from ascendflow.plan import made_as
from ascendflow.reads.names import PACKAGE, SOURCE, Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ascendflow.cache.code import CodeDigests
    from ascendflow.cache.store import Store
    from ascendflow.documents.record import Record
    from ascendflow.plan import Plan

WORK = ".work"
"""Folder below `build/<run>` in which stages work."""
WITHDRAWN = ".withdrawn"
"""Folder below `build/<run>` with a file for each stage whose outputs were taken out."""
PLAN = "plan.json"
RECORD = "record.json"
LOG = "log.txt"


class Project:
    """The folders of one repository, and the caches that belong to it.

    Attributes:
        repository: the folder that holds dodo.py and pipelines/.
        state: `.ascendflow`, which holds the store, the index and locks.
        standing: (run, stage) -> the record of stages that were found up to date; emptied
            as soon as one is found stale, since files then change.
        ahead: hashes what a run will ask for.
        new_plans: names of the runs whose plans were made by this process.
    """

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.state = repository / ".ascendflow"
        self.standing: dict[tuple[str, str], Record] = {}
        self.new_plans: set[str] = set()
        self._build = os.path.join(repository, "build")
        self.ahead = Ahead(self._build)
        self._places: dict[str, Places] = {}

    @cached_property
    def index(self) -> Index:
        """Digests of files, by what `stat` says of them."""
        return Index(self.state / "index.tsv", on_unknown=self.ahead.begin)

    @cached_property
    def store(self) -> Store:
        """Contents and records, by digest."""
        from ascendflow.cache.store import Store  # an up-to-date run restores nothing

        return Store(self.state / "store")

    @cached_property
    def code(self) -> CodeDigests:
        """Digests of ascendflow's own modules, put together from its files."""
        from ascendflow.cache.code import CodeDigests

        return CodeDigests(PACKAGE, self.index, self.state / "code.json")

    @cached_property
    def sources(self) -> Sources:
        """Tell whether ascendflow's own files are still what they were."""
        return Sources(str(PACKAGE), self.state / "sources.json")

    def code_digest(self, modules: Sequence[str]) -> str:
        """Digest the code of these modules and of all that they import."""
        return self.sources.digest(" ".join(modules), lambda: self.code.of(modules).digest)

    def code_digest_now(self, modules: Sequence[str]) -> str:
        """Digest it from the files as they are by now, not as this process found them."""
        with suppress(AscendflowError):  # it imports what was not there a moment ago
            if self.sources.are_as_they_were(self.code.files_of(modules)):
                return self.code_digest(modules)
        from ascendflow.cache.code import CodeDigests

        now = CodeDigests(PACKAGE, self.index, self.state / "code.json")
        return now.of(modules).digest

    def package_digest(self) -> str:
        """Digest every file of ascendflow as it is, comments included."""
        return self.sources.digest("*", lambda: self._digest_of_files(self.sources.files))

    def _digest_of_files(self, files: Iterable[str]) -> str:
        paths = {name: os.path.join(PACKAGE, name) for name in files}
        found = self.index.digests(paths.values())
        return digest_json({name: found[path] for name, path in paths.items()})

    def build_folder(self, run_name: str) -> Path:
        """Where the stages of one run keep their artifacts."""
        return Path(self._build, run_name)

    def stage_path(self, plan: Plan, stage: str) -> str:
        """Where one stage's artifacts, record and log are, for who looks at all of them.

        As text: a run that finds everything up to date would notice what pathlib takes.
        """
        return f"{self._build}/{plan.run_name}/{stage}"

    def stage_folder(self, plan: Plan, stage: str) -> Path:
        """Where one stage's artifacts, record and log are."""
        return Path(self.stage_path(plan, stage))

    def withdrawal_path(self, plan: Plan, stage: str) -> str:
        """Where it is noted which stage took the outputs of `stage` out of `build/`."""
        return f"{self._build}/{plan.run_name}/{WITHDRAWN}/{stage}"

    def artifact(self, plan: Plan, stage: str, role: str) -> Path:
        """Where the artifact `role` of `stage` is, or will be."""
        return Path(self.stage_path(plan, stage), made_as(role))

    @cached_property
    def _resolved(self) -> Path:
        return self.repository.resolve()

    def places(self, folder: str, roots: Mapping[str, str]) -> Places:
        """Names for files below the pipeline's folder, the repository and its roots."""
        return Places(
            folder=Path(os.path.realpath(f"{self._resolved}/{folder}")),
            repository=self._resolved,
            roots={name: Path(root).resolve() for name, root in roots.items()},
        )

    def places_of(self, plan: Plan) -> Places:
        """Name the files that a plan's stages may read."""
        if plan.run_name not in self._places:
            places = self.places(plan.folder, plan.roots)
            sources = [s.files[SOURCE] for s in plan.stages if SOURCE in s.files]
            beside = places.resolve(sources[0]).parent if sources else None
            self._places[plan.run_name] = places._replace(beside=beside)
        return self._places[plan.run_name]
