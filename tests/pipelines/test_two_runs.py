"""Two runs at once: each stage is executed once, and who waits says for whom."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL, finished, until

if TYPE_CHECKING:
    from tests.checkouts import Checkout


@pytest.mark.slow
def test_second_run_of_a_model_waits_and_executes_nothing_twice(fresh: Checkout) -> None:
    meeting = fresh.meet_in("rewrite")
    one = fresh.start("model=toy")
    meeting.wait()
    two = fresh.start("model=toy")
    waits = _line_with(two, "waiting for")
    meeting.go()
    first, second = finished(one), finished(two)

    assert f"waiting for build/toy: process {one.pid} (" in waits
    assert "model=toy) works in it" in waits
    assert first.code == second.code == 0
    assert first.executed == ALL
    assert second.executed == []


@pytest.mark.slow
def test_models_that_share_stages_build_them_once(fresh: Checkout) -> None:
    """Different folders, equal keys: the lock of the key lets one build."""
    fresh.add_model("twin")
    shared = ALL[: ALL.index("gate")]
    meeting = fresh.meet_in("convert")
    one = fresh.start("model=toy")
    meeting.wait()
    two = fresh.start("model=twin")
    until(fresh.path("build/twin/check/record.json").exists)
    _line_with(two, ".  convert:twin")
    meeting.go()
    first, second = finished(one), finished(two)

    assert first.code == second.code == 0
    assert first.executed == ALL
    assert second.executed == ["gate", "report"]
    assert second.restored[-1:] == shared[-1:]


def test_runs_of_two_models_do_not_wait_for_each_other(checkout: Checkout) -> None:
    checkout.add_model("other")
    checkout.edit("pipelines/other/manifest.yaml", "count: 2", "count: 3")
    meeting = checkout.meet_in("check")
    one = checkout.start("check:toy")
    meeting.wait()
    run = checkout.doit("samples:other")
    meeting.go()

    assert run.executed == ["samples"]
    assert "waiting" not in run.text
    assert finished(one).code == 0


def test_output_is_seen_when_it_is_said(checkout: Checkout) -> None:
    meeting = checkout.meet_in("convert")
    process = checkout.start("convert:toy")
    meeting.wait()
    line = _line_with(process, ".  convert:toy")
    meeting.go()

    assert "code of ascendflow changed" in line
    assert finished(process).code == 0


def test_reader_that_has_seen_enough_ends_the_run_without_a_traceback(
    checkout: Checkout,
) -> None:
    with checkout.start("-a", stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        error = process.stderr.read()

    assert (process.returncode, error) == (-signal.SIGPIPE, "")
    assert checkout.doit().executed == []


def _line_with(process: subprocess.Popen[str], words: str) -> str:
    """Read a run's output up to the line with these words."""
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return line
    raise AssertionError(f"it ended without {words!r}")
