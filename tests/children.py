"""Real children that run stand-in stages: what a test gives as a stage's code.

The production child takes no stand-ins; a script of the test's own calls its `main` with
another loader.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow.child.command import child_environment
from ascendflow.process import Limits, run_child

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.process import ExitStatus

CHILD_MODULES = (
    "ascendflow.child.failures",
    "ascendflow.child.fork",
    "ascendflow.child.lifeline",
    "ascendflow.child.mark",
    "ascendflow.child.memory",
    "ascendflow.child.result",
    "ascendflow.child.seeds",
    "ascendflow.child.sources",
    "ascendflow.child.spec",
    "ascendflow.documents.json_file",
    "ascendflow.errors",
    "ascendflow.reads.audit",
    "ascendflow.reads.distributions",
    "ascendflow.reads.inotify",
    "ascendflow.reads.modules",
    "ascendflow.reads.names",
    "ascendflow.reads.observer",
    "ascendflow.reads.territory",
    "ascendflow.reads.tracker",
    "ascendflow.stages.__main__",
    "ascendflow.stages.stage",
)
"""The modules of every child, whatever its stage; a test holds them equal to imports."""

LAUNCHER = """\
import sys

from ascendflow.errors import *
from ascendflow.stages.__main__ import finish, main
from ascendflow.stages.stage import KeptFile

{preamble}


class StandIn:
    name = "samples"
    runs_user_code = {runs_user_code}

    def run(self, ctx):
{body}


if __name__ == "__main__":
    finish(main(sys.argv[1:], load=lambda name: StandIn))
"""


@dataclass
class Repository:
    """A repository with one pipeline, and a child to run in it.

    Attributes:
        top: everything of the test; the repository is `top/repository`.
        spec: changes to the spec that children get.
        preamble: what their launcher does before anything else.
    """

    top: Path
    spec: dict[str, Any] = field(default_factory=dict)
    preamble: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)

    @property
    def repository(self) -> Path:
        """The folder of pyproject.toml."""
        return self.top / "repository"

    @property
    def folder(self) -> Path:
        """The pipeline folder."""
        return self.repository / "pipelines" / "pan"

    @property
    def work(self) -> Path:
        """Where the child's spec and result lie."""
        return self.repository / "build" / "pan" / ".work" / "samples-0"

    @property
    def log(self) -> Path:
        """What the child printed."""
        return self.work / "log.txt"

    def write(self, path: str, text: str | bytes = "x") -> Path:
        """Write a file of the repository."""
        file = self.repository / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def argv(self, body: str, *, runs_user_code: bool = True) -> list[str]:
        """Return the command of a child whose stage does `body`; `ctx` is its context."""
        self.work.mkdir(parents=True, exist_ok=True)
        (self.work / "spec.json").write_text(json.dumps(self._document()))
        indented = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
        launcher = self.top / "launcher.py"
        text = LAUNCHER.format(
            body=indented, runs_user_code=runs_user_code, preamble=self.preamble
        )
        launcher.write_text(text, encoding="utf-8")
        options = ["-P", "-u", "-X", "utf8", "-X", "faulthandler"]
        return [sys.executable, *options, str(launcher), str(self.work / "spec.json")]

    def run(
        self,
        body: str,
        *,
        limits: Limits = Limits(timeout_s=120),  # noqa: B008
        environment: Mapping[str, str] | None = None,
        runs_user_code: bool = True,
    ) -> tuple[ExitStatus, dict[str, Any]]:
        """Run a stage that does `body`; returns how it ended and its result."""
        argv = self.argv(body, runs_user_code=runs_user_code)
        status = run_child(
            argv,
            cwd=self.work,
            environment=child_environment(environment or {}, threads=1),
            log=self.log,
            limits=limits,
        )
        result = self.work / "result.json"
        return status, json.loads(result.read_text()) if result.exists() else {}

    def reads(self, body: str, *, runs_user_code: bool = True) -> dict[str, Any]:
        """Run a stage that does `body` and must succeed; returns its result."""
        _, result = self.run(body, runs_user_code=runs_user_code)
        assert result.get("ok") is True, (result, self.log.read_text())
        return result

    def error(self, body: str) -> dict[str, str]:
        """Run a stage that does `body` and must fail; returns the error of its result."""
        status, result = self.run(body)
        assert status.returncode == 1, (status, self.log.read_text())
        assert result["ok"] is False, result
        error: dict[str, str] = result["error"]
        return error

    def _document(self) -> dict[str, Any]:
        document = {
            "schema_version": 1,
            "stage": "samples",
            "config": {},
            "inputs": {},
            "files": {},
            "outputs": {},
            "folder": self.folder,
            "repository": self.repository,
            "roots": {},
            "seed": 0,
            "modules": list(CHILD_MODULES),
            "python_path": [self.folder, self.repository],
            **self.spec,
        }
        return {name: self._relative(value) for name, value in document.items()}

    def _relative(self, value: Any) -> Any:
        if isinstance(value, Path):
            return os.path.relpath(value, self.work)
        if isinstance(value, dict):
            return {name: self._relative(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._relative(inner) for inner in value]
        return value
