from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import InternalError, StageError
from ascendflow.plan import Plan
from ascendflow.tasks.failures import StageTaskError, failure_of, located

if TYPE_CHECKING:
    from tests.workshops import Workshop


def told(error: Exception) -> str:
    failure = failure_of(error, "gate:toy")
    assert isinstance(failure, StageTaskError)
    assert failure.exit_code == 2
    return str(failure.get_msg()).strip()


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "free some space there"),
        (errno.EROFS, "make that folder writable"),
        (errno.EACCES, "make that folder writable"),
        (errno.EMFILE, "ulimit -n"),
    ],
)
def test_what_the_system_refuses_is_said_with_place_and_hint(
    number: int, hint: str
) -> None:
    text = told(OSError(number, os.strerror(number), "build/toy"))

    assert text.startswith(f"gate:toy: cannot use build/toy: {os.strerror(number)}")
    assert hint in text
    assert "Traceback" not in text


def test_error_that_no_system_gives_by_itself_is_a_bug() -> None:
    try:
        os.stat("/no/such/file")
    except FileNotFoundError as error:
        text = told(error)

    assert text.startswith("gate:toy: a bug in ascendflow\nTraceback")


def test_bug_in_a_child_leads_to_its_log_and_shows_no_traceback_of_the_parent() -> None:
    error = InternalError("gate: KeyError: 'x'")
    error.add_note("its log is build/toy/gate/log.txt")

    assert told(error) == (
        "a bug in ascendflow: gate: KeyError: 'x'\n  its log is build/toy/gate/log.txt"
    )


def test_error_about_the_manifest_names_its_line(workshop: Workshop) -> None:
    plan = Plan("toy", "toy", "pipelines/toy", {}, ())
    manifest = workshop.repository / "pipelines" / "toy" / "manifest.yaml"
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text("model: toy\n\ngate:\n  outputs:\n    x: {}\n")
    error = StageError("no such output", hint="call it y", keys=("gate", "outputs", "x"))

    assert str(located(error, workshop.project, plan)) == (
        "no such output\n  hint: call it y; see pipelines/toy/manifest.yaml:5"
    )


def test_error_about_a_manifest_that_is_gone_is_told_all_the_same(
    workshop: Workshop,
) -> None:
    plan = Plan("gone", "gone", "pipelines/gone", {}, ())
    error = StageError("no such output", keys=("gate",))

    assert str(located(error, workshop.project, plan)) == "no such output"
