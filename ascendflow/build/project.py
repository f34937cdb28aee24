"""A repository with pipelines: where everything lies, and what is known of it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ascendflow.cache.code import CodeDigests
from ascendflow.cache.index import Index
from ascendflow.cache.store import Store
from ascendflow.reads.names import Places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.plan import Plan

PACKAGE = Path(__file__).resolve().parent.parent


class Project:
    """The folders of one repository, and the caches that belong to it.

    Attributes:
        repository: the folder that holds dodo.py and pipelines/.
        state: `.ascendflow`, which holds the store, the index and locks.
    """

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.state = repository / ".ascendflow"
        self.state.mkdir(exist_ok=True)

    @cached_property
    def index(self) -> Index:
        """Digests of files, by what `stat` says of them."""
        return Index(self.state / "index.jsonl")

    @cached_property
    def store(self) -> Store:
        """Contents and records, by digest."""
        return Store(self.state / "store")

    @cached_property
    def code(self) -> CodeDigests:
        """Digests of ascendflow's own modules."""
        return CodeDigests(PACKAGE, self.index, self.state / "code.json")

    def build_folder(self, run_name: str) -> Path:
        """Where the stages of one run keep their artifacts."""
        return self.repository / "build" / run_name

    def stage_folder(self, plan: Plan, stage: str) -> Path:
        """Where one stage's artifacts, record and log are."""
        return self.build_folder(plan.run_name) / stage

    def artifact(self, plan: Plan, stage: str, role: str) -> Path:
        """Where the artifact `role` of `stage` is, or will be."""
        return self.stage_folder(plan, stage) / role

    def places(self, folder: str, roots: Mapping[str, str]) -> Places:
        """Names for files below the pipeline's folder, the repository and its roots."""
        return Places(
            folder=(self.repository / folder).resolve(),
            repository=self.repository.resolve(),
            roots={name: Path(root).resolve() for name, root in roots.items()},
        )

    def places_of(self, plan: Plan) -> Places:
        """Name the files that a plan's stages may read."""
        return self.places(plan.folder, plan.roots)
