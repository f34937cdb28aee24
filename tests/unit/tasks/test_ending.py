from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from doit.task import Task

from ascendflow.build.project import Project
from ascendflow.plan import Plan
from ascendflow.report.collect import collect
from ascendflow.tasks.ending import tell_ending
from ascendflow.tasks.session import SESSION
from ascendflow.tasks.uptodate import META
from ascendflow.tasks.verdict import VerdictAction
from tests.reports import failed, passed
from tests.workshops import planned

BUILD = Path("build/pan")
UP_TO_DATE: dict[str, Any] = {"reasons": []}
BROUGHT_UP = {"reasons": ["never built"], "outcome": {"how": "executed"}}
STALE = {"reasons": ["never built"]}


@pytest.fixture(autouse=True)
def exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    codes: list[int] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(SESSION.__dict__, "project", Project(tmp_path))
    monkeypatch.setattr(SESSION, "exit_codes", codes)
    return codes


def _write(documents: dict[str, Any]) -> None:
    for stage in ("gate", "report"):
        (BUILD / stage).mkdir(parents=True)
    (BUILD / "gate" / "verdict.json").write_text(json.dumps(documents["verdict.json"]))
    (BUILD / "report" / "report.json").write_text(json.dumps(collect(documents)))


def _told(*asked: str, model_ran: bool = False, **states: dict[str, Any]) -> str:
    stages = tuple(planned(name, {}, ()) for name in ("gate", "report"))
    plan = Plan("pan", "pan", "pipelines/pan", {}, stages)
    tasks = {"pan": Task("pan", [VerdictAction(plan)])}
    tasks["pan"].executed = model_ran
    for stage in ("gate", "report"):
        task = tasks[f"{stage}:pan"] = Task(f"{stage}:pan", [lambda: None])
        if (state := states.get(stage)) is not None:
            task.meta, task.executed = {META: state}, bool(state["reasons"])
    stream = StringIO()
    tell_ending(tasks, set(asked), stream)
    return stream.getvalue()


@pytest.mark.parametrize("state", [UP_TO_DATE, BROUGHT_UP], ids=["up-to-date", "brought"])
def test_verdict_that_was_asked_for_is_told_and_decides_the_exit_code(
    state: dict[str, Any], exit_codes: list[int]
) -> None:
    _write(failed())

    alone = _told("gate:pan", gate=state)
    reported = _told("gate:pan", "report:pan", gate=state, report=state)

    assert exit_codes == [1, 1]
    assert alone.startswith("pan: FAILED (")
    assert alone.endswith("hint: `doit pan` reports causes, and what cures them\n")
    assert "first divergent node: /up3/Resize" in reported
    assert reported.endswith("hint: open build/pan/report/report.html\n")


def test_pass_is_a_line_and_asks_for_no_exit_code(exit_codes: list[int]) -> None:
    _write(passed())

    assert _told("gate:pan", gate=UP_TO_DATE).startswith("pan: passed (1 check; ")
    assert exit_codes == []


@pytest.mark.parametrize(
    ("asked", "states"),
    [
        pytest.param(["report:pan"], {"gate": UP_TO_DATE}, id="not-asked-for"),
        pytest.param(["gate:pan"], {}, id="not-judged"),
        pytest.param(["gate:pan"], {"gate": STALE}, id="failed-as-it-was-made"),
        pytest.param(
            ["gate:pan"], {"gate": {"reasons": ["no numpy"]}}, id="failed-as-it-was-judged"
        ),
    ],
)
def test_verdict_of_an_earlier_run_is_not_told(
    asked: list[str], states: dict[str, Any], exit_codes: list[int]
) -> None:
    _write(failed())

    assert _told(*asked, **states) == ""
    assert exit_codes == []


def test_verdict_that_the_models_task_told_is_not_told_twice(exit_codes: list[int]) -> None:
    _write(failed())

    assert _told("pan", "gate:pan", model_ran=True, gate=UP_TO_DATE) == ""
    assert exit_codes == [1]
    (BUILD / "gate" / "verdict.json").unlink()
    assert _told("pan", "gate:pan", model_ran=True, gate=UP_TO_DATE) == ""
    assert exit_codes == [1, 2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "pan: cannot read build/pan/gate/verdict.json: No such file"),
        ('{"schema_version": 1}', "pan: a bug in ascendflow"),
    ],
)
def test_verdict_that_cannot_be_told_never_passes(
    content: str | None, said: str, exit_codes: list[int]
) -> None:
    _write(passed())
    (BUILD / "gate" / "verdict.json").unlink()
    if content is not None:
        (BUILD / "gate" / "verdict.json").write_text(content)

    assert _told("gate:pan", gate=UP_TO_DATE).startswith(said)
    assert exit_codes == [2]
