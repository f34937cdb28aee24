"""What a stage is: a declaration of what it reads and makes, and one method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.backends.backend import Backend


@dataclass(frozen=True)
class KeptFile:
    """A file of an output that is byte for byte a file of an input."""

    role: str
    path: str


@dataclass
class Findings:
    """What a stage says beside its artifacts; ends up in its record."""

    warnings: list[str] = field(default_factory=list)
    kept: dict[str, KeptFile] = field(default_factory=dict)
    """Output path ("rewritten/model.onnx.data") -> the input file it equals. The stage
    does not write such a file; the store already has it."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Plain JSON data for the record, e.g. what was emulated."""


@dataclass(frozen=True)
class StageContext:
    """All that a stage may see. What is not here cannot change its result.

    Attributes:
        config: the stage's slice of the manifest, after defaults, as plain data.
        inputs: role -> file or folder made by an earlier stage; read-only.
        files: role -> file that the manifest names (`source`, `weights`); read-only.
        outputs: role -> path that the stage must create: a file, or a folder where the
            role has no suffix.
        folder: the model's pipeline folder, where user modules are found.
        backend: the backend that `config["backend"]` names, or None.
        seed: seeds whatever the stage draws at random.
        findings: warnings, kept files and facts, filled in while the stage runs.
        roots: name -> folder beside the repository, which `name:path` starts at.
    """

    config: Mapping[str, Any]
    inputs: Mapping[str, Path]
    files: Mapping[str, Path]
    outputs: Mapping[str, Path]
    folder: Path
    backend: Backend | None
    seed: int
    findings: Findings
    roots: Mapping[str, Path] = field(default_factory=dict)


class Stage(Protocol):
    """One step of the pipeline. Runs in a child process of its own."""

    name: ClassVar[str]
    consumes: ClassVar[frozenset[str]]
    """Roles of artifacts that earlier stages make."""
    produces: ClassVar[frozenset[str]]
    computes_floats: ClassVar[bool]
    """Whether the CPU's instruction set can change the result, so belongs in the key."""
    runs_user_code: ClassVar[bool]
    """Whether it does so in any case; `users_code` in its slice names files where not."""

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the distributions (as on PyPI) whose versions can change the result."""
        ...

    def run(self, ctx: StageContext) -> None:
        """Make every path in `ctx.outputs`.

        Raises:
            AscendflowError: the stage refuses its input or cannot make its artifacts.
        """
        ...
