"""A project with a hand-made plan, whose stages run in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendflow.build import bring_up as module
from ascendflow.build.bring_up import bring_up
from ascendflow.build.execute import Execution
from ascendflow.build.judge import judge
from ascendflow.build.moved import moment
from ascendflow.build.project import Project
from ascendflow.plan import Plan, PlannedStage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from ascendflow.build.bring_up import Outcome
    from ascendflow.build.judge import Judgement


def planned(name: str, inputs: dict[str, str], outputs: tuple[str, ...]) -> PlannedStage:
    """Plan a stage; its code is a module that imports nothing."""
    return PlannedStage(
        name=name,
        config={"level": 1},
        inputs=inputs,
        guards=(),
        files={},
        outputs=outputs,
        tools=("doit",),
        modules=("ascendflow.errors",),
        computes_floats=False,
        environment={},
        threads=1,
        timeout_s=None,
        memory_gb=None,
    )


STAGES = (
    planned("rewrite", {}, ("rewritten",)),
    planned("convert", {"rewritten": "rewrite"}, ("conversion.json", "model")),
    planned("gate", {"conversion.json": "convert"}, ("verdict.json",)),
    planned("report", {"verdict.json": "gate"}, ("report.json",)),
)


PLAN = Plan("toy", "toy", "pipelines/toy", {}, STAGES)


def no_reads() -> dict[str, list[str]]:
    """Return the reads of a stage that read nothing."""
    return {"files": [], "folders": [], "missing": []}


@dataclass
class Workshop:
    """A repository, and what its stages do.

    Attributes:
        repository: its folder.
        plan: what is built.
        makes: stage -> what it does instead of running a child; given the folder that
            outputs belong in. Absent: each output says which stage made it.
        reads: what every stage says that it read.
        states: what every stage says that it found where Python read.
        appeared: which of these it says came into being meanwhile.
        kept: what every stage says that it kept.
        executed: the stages that ran.
        exists: whether the repository is there, and may have been built.
    """

    repository: Path
    plan: Plan = PLAN
    makes: dict[str, Callable[[Path], None]] = field(default_factory=dict)
    reads: dict[str, list[str]] = field(default_factory=no_reads)
    states: dict[str, str] = field(default_factory=dict)
    appeared: list[str] = field(default_factory=list)
    kept: dict[str, dict[str, str]] = field(default_factory=dict)
    executed: list[str] = field(default_factory=list)
    exists: bool = False

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=self.exists)
        self.project = Project(self.repository)

    @property
    def folder(self) -> Path:
        """The pipeline folder."""
        return self.repository / "pipelines" / "toy"

    def use(self, monkeypatch: pytest.MonkeyPatch) -> Workshop:
        """Let stages run here instead of in a child."""
        monkeypatch.setattr(module, "execute", self._execute)
        return self

    def change(self, stage: str, **what: Any) -> None:
        """Plan a stage otherwise."""
        stages = tuple(
            each._replace(**what) if each.name == stage else each
            for each in self.plan.stages
        )
        self.plan = self.plan._replace(stages=stages)

    def judge(self, stage: str) -> Judgement:
        return judge(self.project, self.plan, self.plan.stage(stage))

    def reasons(self, stage: str) -> list[str]:
        return [str(reason) for reason in self.judge(stage).reasons]

    def bring_up(self, *stages: str) -> Outcome:
        """Bring stages up, the others before them; returns the last outcome."""
        for name in stages:
            outcome = bring_up(self.project, self.plan, self.plan.stage(name))
        return outcome

    def path(self, name: str) -> Path:
        """A path below `build/toy`."""
        return self.project.build_folder("toy") / name

    def _execute(
        self, _project: Project, _plan: Plan, stage: PlannedStage, work: Path, **_: Any
    ) -> Execution:
        self.executed.append(stage.name)
        out = work / "out"
        out.mkdir()
        (work / "spec.json").touch()
        started = moment(work / "spec.json")
        (work / "log.txt").write_text(f"{stage.name} ran\n")
        if stage.name in self.makes:
            self.makes[stage.name](out)
        else:
            make_outputs(stage, out)
        result = {
            "reads": self.reads,
            "states": self.states,
            "appeared": self.appeared,
            "distributions": [],
            "kept": self.kept,
            "warnings": [f"{stage.name} warned"],
            "facts": {},
        }
        return Execution(work, result, 1.5, started)


def make_outputs(stage: PlannedStage, out: Path, text: str = "made") -> None:
    """Make each output of a stage: it says `text`, and who made it."""
    for role in stage.outputs:
        file = out / role if "." in role else out / role / "content"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text} by {stage.name}")
