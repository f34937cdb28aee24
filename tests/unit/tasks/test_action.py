from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from doit.task import Task

from ascendflow.errors import NotModelledError, StageError
from ascendflow.tasks.action import Heartbeat, StageAction
from ascendflow.tasks.uptodate import META
from tests.toolkits import config
from tests.workshops import make_outputs

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.plan import PlannedStage
    from ascendflow.tasks.session import Session
    from tests.workshops import Workshop


def executed(
    workshop: Workshop, reasons: list[str], *, is_forced: bool = False
) -> tuple[Any, StageAction, Any]:
    action = StageAction(workshop.plan, workshop.plan.stage("rewrite"))
    action.task = Task("rewrite:toy", None)
    action.task.meta = {META: {"reasons": reasons, "is_forced": is_forced}}
    failure = action.execute()
    return failure, action, action.task.meta[META].get("outcome")


def test_stale_stage_is_built_and_its_key_saved(workshop: Workshop) -> None:
    failure, action, outcome = executed(workshop, ["never built"])
    record = workshop.judge("rewrite").record

    assert failure is None
    assert record is not None
    assert action.values == {"key": record["key"]}
    assert outcome == {
        "how": "executed",
        "wall_s": 1.5,
        "warnings": ("rewrite warned",),
        "differing": (),
    }


def test_stage_that_is_up_to_date_by_now_is_not_run(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")
    _, _, outcome = executed(workshop, ["doit has no saved value for it"])

    assert outcome["how"] == "restored"
    assert workshop.executed == ["rewrite"]


def test_forced_stage_is_repeated_though_doit_lost_its_value(workshop: Workshop) -> None:
    """As it does when a forced execution fails: the next would pass, and run nothing."""
    workshop.bring_up("rewrite")
    _, _, outcome = executed(workshop, ["doit has no saved value for it"], is_forced=True)

    assert outcome["how"] == "repeated"
    assert workshop.executed == ["rewrite", "rewrite"]


def test_what_is_not_installed_leaves_no_verdict_of_an_earlier_build(
    workshop: Workshop, session: Session, tmp_path: Path
) -> None:
    """The stage that is asked for needs a toolkit; one before it is stale."""
    session.asked_stages = lambda _run: {"rewrite", "convert"}
    workshop.bring_up("rewrite", "convert", "gate", "report")
    workshop.change("convert", config=config(tmp_path / "cann", tmp_path / "python3"))
    workshop.change("rewrite", config={"level": 2})
    failure, _, _ = executed(workshop, ["its config changed"])

    assert f"convert.toolkit: {tmp_path}/cann holds no atc" in failure.get_msg()
    assert workshop.executed == ["rewrite", "convert", "gate", "report"]
    assert not workshop.path("rewrite").exists()
    assert not workshop.path("gate").exists()
    assert not workshop.path("report").exists()


def test_board_is_looked_for_once_nothing_stale_is_left_and_only_where_a_stage_runs(
    workshop: Workshop, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt while it does not answer leaves no verdict of an earlier build."""
    infer = workshop.plan.stage("gate")
    looks: list[bool] = []

    def look(_stage: PlannedStage) -> None:
        looks.append(workshop.path("gate").exists())
        raise SystemExit(130)

    monkeypatch.setattr("ascendflow.build.missing.runs_after", lambda *_: [infer])
    monkeypatch.setattr("ascendflow.build.missing.out_of_reach", look)
    workshop.bring_up("rewrite", "convert", "gate", "report")
    workshop.change("rewrite", config={"level": 2})
    with pytest.raises(SystemExit):
        executed(workshop, ["its config changed"])
    assert looks == [False]

    session.looked_at.clear()
    workshop.change("rewrite", config={"level": 1})
    _, _, outcome = executed(workshop, ["its config changed"])
    assert (outcome["how"], looks) == ("restored", [False])


def test_stage_that_was_found_up_to_date_was_forced_and_is_repeated(
    workshop: Workshop,
) -> None:
    workshop.bring_up("rewrite")
    stage = workshop.plan.stage("rewrite")
    workshop.makes["rewrite"] = lambda out: make_outputs(stage, out, "otherwise")
    failure, _, outcome = executed(workshop, [])

    assert failure is None
    assert (outcome["how"], outcome["differing"]) == ("repeated", ("rewritten",))
    assert workshop.executed == ["rewrite", "rewrite"]


def test_forced_stage_whose_output_vanished_meanwhile_is_brought_up(
    workshop: Workshop,
) -> None:
    workshop.bring_up("rewrite")
    workshop.path("rewrite/rewritten/content").unlink()
    _, _, outcome = executed(workshop, [])

    assert outcome["how"] == "restored"


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (StageError("no", hint="think"), 2, "no\n  hint: think\n"),
        (NotModelledError("no"), 3, "no\n"),
    ],
)
def test_error_of_a_stage_is_a_failure_without_traceback(
    workshop: Workshop, error: Exception, code: int, told: str
) -> None:
    def fail(_out: Path) -> None:
        raise error

    workshop.makes["rewrite"] = fail
    failure, action, _ = executed(workshop, ["never built"])

    assert failure.exit_code == code
    assert f"{told}  its log is build/toy/rewrite/log.txt" in failure.get_msg()
    assert "Traceback" not in failure.get_msg()
    assert action.values == {}


def test_bug_is_shown_whole_and_fails_one_task(workshop: Workshop) -> None:
    def fail(_out: Path) -> None:
        raise ZeroDivisionError

    workshop.makes["rewrite"] = fail
    failure, _, _ = executed(workshop, ["never built"])

    assert failure.exit_code == 2
    assert "rewrite:toy: a bug in ascendflow\nTraceback" in failure.get_msg()


def test_time_it_took_is_noted_for_the_next_heartbeat(
    workshop: Workshop, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    executed(workshop, ["never built"])
    last_s = session.timings.last("rewrite:toy")
    heartbeat = Heartbeat("rewrite:toy", last_s)
    for elapsed_s in (10.0, 30.0, 35.0, 61.0):
        heartbeat(elapsed_s)

    assert last_s == 1.5
    assert capsys.readouterr().err.splitlines() == [
        "   rewrite:toy has run for 30 s; last time it took 2 s",
        "   rewrite:toy has run for 61 s; last time it took 2 s",
    ]


def test_first_heartbeat_knows_no_last_time(capsys: pytest.CaptureFixture[str]) -> None:
    Heartbeat("a:b", None)(31.0)

    assert capsys.readouterr().err == "   a:b has run for 31 s\n"


def test_failure_to_judge_fails_the_task_and_runs_nothing(workshop: Workshop) -> None:
    action = StageAction(workshop.plan, workshop.plan.stage("rewrite"))
    action.task = Task("rewrite:toy", None)
    action.task.meta = {META: {"reasons": ["no"], "failure": StageError("no such tool")}}

    failure = action.execute()

    assert failure is not None
    assert failure.get_msg().strip() == "no such tool"
    assert workshop.executed == []
