from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from doit.exceptions import UnmetDependency
from doit.task import Task

from ascendflow.errors import StageError
from ascendflow.tasks.failures import failure_of
from ascendflow.tasks.reporter import StageReporter
from ascendflow.tasks.uptodate import META

if TYPE_CHECKING:
    from ascendflow.tasks.session import Session


@pytest.fixture
def reporter() -> StageReporter:
    return StageReporter(StringIO(), {"failure_verbosity": 0})


def task(**meta: Any) -> Task:
    made = Task("convert:toy", [lambda: None])
    made.meta = {META: meta}
    return made


def test_stage_starts_with_its_first_reason(reporter: StageReporter) -> None:
    reporter.execute_task(task(reasons=["one"]))
    reporter.execute_task(task(reasons=["one", "two", "three"]))
    reporter.execute_task(task(reasons=[]))

    assert reporter.outstream.getvalue().splitlines() == [
        ".  convert:toy  (one)",
        ".  convert:toy  (one, and 2 more)",
        ".  convert:toy",
    ]


def test_stage_ends_with_how_and_what_it_warned_of(reporter: StageReporter) -> None:
    outcome = {"how": "executed", "wall_s": 1.26, "warnings": ("careful",), "differing": ()}
    reporter.add_success(task(outcome=outcome))
    restored = {"how": "restored", "wall_s": 0.0, "warnings": (), "differing": ("model",)}
    reporter.add_success(task(outcome=restored))

    assert reporter.outstream.getvalue().splitlines() == [
        "   convert:toy executed in 1.3 s",
        "   warning: convert:toy: careful",
        "   convert:toy restored",
        (
            "   warning: convert:toy is not deterministic: model came out otherwise than "
            "recorded; the recorded one stays"
        ),
    ]


@pytest.mark.parametrize(
    ("differing", "told"),
    [
        ((), "repeated 2 stages: nothing came out otherwise"),
        (("model",), "repeated 2 stages: otherwise than recorded: convert:toy"),
    ],
)
def test_a_forced_run_ends_with_what_came_out_otherwise(
    reporter: StageReporter, differing: tuple[str, ...], told: str
) -> None:
    outcome = {"how": "repeated", "wall_s": 1.0, "warnings": (), "differing": ()}
    other = Task("infer:toy", [lambda: None])
    other.meta = {META: {"outcome": outcome}}
    reporter.add_success(other)
    reporter.add_success(task(outcome={**outcome, "differing": differing}))
    reporter.complete_run()

    assert reporter.outstream.getvalue().splitlines()[-1] == told


def test_a_run_that_repeated_nothing_does_not_say_so(reporter: StageReporter) -> None:
    outcome = {"how": "executed", "wall_s": 1.0, "warnings": (), "differing": ()}
    reporter.add_success(task(outcome=outcome))
    reporter.complete_run()

    assert "otherwise" not in reporter.outstream.getvalue()


def test_failure_is_told_once_and_its_exit_code_noted(
    reporter: StageReporter, session: Session
) -> None:
    error = StageError("convert: no", hint="think")
    reporter.add_failure(task(), failure_of(error, "convert:toy"))
    reporter.complete_run()

    assert reporter.outstream.getvalue() == "ERROR: convert:toy: no\n  hint: think\n"
    assert session.exit_codes == [2]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        pytest.param("data.py:test_samples: no", "convert:toy: data.py:test_samples: no"),
        pytest.param("convert:toy: a bug", "convert:toy: a bug", id="says-so"),
        pytest.param("toy: backend cann lacks", "toy: backend cann lacks", id="of-the-run"),
        pytest.param("convert.toolkit: no atc", "convert:toy: convert.toolkit: no atc"),
    ],
)
def test_failure_names_its_task(reporter: StageReporter, message: str, told: str) -> None:
    reporter.add_failure(task(), failure_of(StageError(message), "convert:toy"))

    assert reporter.outstream.getvalue() == f"ERROR: {told}\n"


def test_stages_that_were_not_run_are_one_line_a_run_and_ask_for_no_exit_code(
    reporter: StageReporter, session: Session
) -> None:
    failed = Task("samples:toy", [lambda: None])
    reporter.add_failure(failed, failure_of(StageError("no"), "samples:toy"))
    for name in ("export:toy", "gate:toy", "toy", "gate"):
        waiting = Task(name, None if name == "gate" else [lambda: None])
        reporter.add_failure(waiting, UnmetDependency("samples:toy evaluate:toy"))
    reporter.complete_run()

    assert reporter.outstream.getvalue().splitlines() == [
        "ERROR: samples:toy: no",
        "   toy: 2 stages not run, samples:toy failed",
    ]
    assert session.exit_codes == [2]


def test_what_fails_two_stages_alike_is_told_once(reporter: StageReporter) -> None:
    for text in ("no atc", "no atc", "no numpy"):
        reporter.add_failure(task(), failure_of(StageError(text, hint="install"), "x"))

    assert reporter.outstream.getvalue().splitlines() == [
        "ERROR: convert:toy: no atc",
        "  hint: install",
        "   convert:toy failed for the same reason",
        "ERROR: convert:toy: no numpy",
        "  hint: install",
    ]
    assert len(reporter.failures) == 3
