from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from doit.task import Task

from ascendflow.errors import StageError
from ascendflow.tasks.uptodate import META, NeverUpToDate, UpToDate

if TYPE_CHECKING:
    from ascendflow.tasks.session import Session
    from tests.workshops import Workshop


def asked(workshop: Workshop, values: dict[str, Any]) -> tuple[bool, Task, UpToDate]:
    check = UpToDate(workshop.plan, workshop.plan.stage("rewrite"))
    task = Task("rewrite:toy", None)
    return check(task, values), task, check


def test_stale_stage_says_why_and_marks_its_run(
    workshop: Workshop, session: Session
) -> None:
    answer, task, check = asked(workshop, {})

    assert answer is False
    assert repr(check) == "never built"
    assert task.meta[META] == {"reasons": ["never built"]}
    assert session.stale_runs == {"toy"}


def test_stage_whose_key_doit_has_saved_is_up_to_date(
    workshop: Workshop, session: Session
) -> None:
    key = workshop.bring_up("rewrite").key
    answer, task, check = asked(workshop, {"key": key})

    assert answer is True
    assert repr(check) == "up to date"
    assert task.meta[META] == {"reasons": []}
    assert session.stale_runs == set()


def test_lost_or_other_saved_value_runs_the_stage_again(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")

    for values in ({}, {"key": "sha256:0"}):
        answer, _, check = asked(workshop, values)
        assert answer is False
        assert repr(check) == "doit has no saved value for it, or another one"


def test_stage_that_another_run_built_while_we_waited_is_judged_again(
    workshop: Workshop, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(_run: str) -> bool:
        workshop.bring_up("rewrite")
        return True

    monkeypatch.setattr(session, "hold_run", wait)
    answer, _, check = asked(workshop, {})

    assert answer is False
    assert repr(check) == "doit has no saved value for it, or another one"


def test_verdict_is_told_whether_anything_ran(session: Session) -> None:
    task = Task("toy", None)

    assert NeverUpToDate("toy")(task) is False
    assert task.meta[META] == {"something_ran": False}
    session.stale_runs.add("toy")
    assert NeverUpToDate("toy")(task) is False
    assert task.meta[META] == {"something_ran": True}


@pytest.mark.parametrize("error", [StageError("no such tool"), OSError(28, "disk full")])
def test_failure_to_judge_is_left_to_the_action_of_this_task(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("ascendflow.tasks.uptodate.judge", fail)
    answer, task, check = asked(workshop, {})

    assert answer is False
    assert task.meta[META]["failure"] is error
    assert repr(check) == str(error)
