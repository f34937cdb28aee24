from __future__ import annotations

from typing import Any

import pytest

from ascendflow.errors import (
    AccuracyGateError,
    AscendflowError,
    NotModelledError,
    StageError,
)
from ascendflow.tasks.failures import GateFailure, StageTaskError, failure_of
from ascendflow.tasks.session import Session


@pytest.mark.parametrize(
    ("asked", "of_doit", "code"),
    [
        pytest.param([], 0, 0, id="passed"),
        pytest.param([], 3, 3, id="doit-could-not-run"),
        pytest.param([1], 1, 1, id="gate"),
        pytest.param([1], 2, 1, id="gate-that-doit-makes-an-error"),
        pytest.param([1, 2], 2, 2, id="stage-wins-over-gate"),
        pytest.param([2, 1], 2, 2, id="in-any-order"),
        pytest.param([3], 2, 3, id="not-modelled"),
        pytest.param([3, 1], 2, 3, id="not-modelled-wins-over-gate"),
        pytest.param([3, 2], 2, 2, id="stage-wins-over-not-modelled"),
    ],
)
def test_exit_code_is_that_of_the_worst_failure(
    asked: list[int], of_doit: int, code: int
) -> None:
    session = Session()
    session.exit_codes += asked

    assert session.exit_code(of_doit) == code


def test_command_that_only_looks_takes_no_lock() -> None:
    assert Session().hold_run("toy") is False


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (AccuracyGateError("no"), GateFailure, 1),
        (StageError("no", hint="think"), StageTaskError, 2),
        (NotModelledError("no"), StageTaskError, 3),
    ],
)
def test_failure_in_doit_keeps_message_and_exit_code(
    error: AscendflowError, kind: type, code: int
) -> None:
    failure: Any = failure_of(error, "gate:toy")

    assert (type(failure), failure.exit_code) == (kind, code)
    assert failure.get_msg().strip() == str(error)
