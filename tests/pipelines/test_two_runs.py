"""Two runs at once: each stage is executed once, and who waits says for whom."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL, FROM_LINT, finished, until
from tests.faults import trouble

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
    waits = _line_with(two, "is waiting for")
    meeting.go()
    first, second = finished(one), finished(two)

    assert waits.startswith(f"convert:twin is waiting for process {one.pid} (")
    assert waits.endswith("model=toy), which may be making the same\n")
    assert "convert:twin is waiting for" not in second.text  # it was said once
    assert first.code == second.code == 0
    # Whoever is first at a stage of both executes it, and the other restores it.
    for stage in shared:
        ways = (stage in first.executed, stage in second.executed)
        assert sorted(ways) == [False, True], f"{stage}\n{first.text}{second.text}"
    assert set(first.executed) - set(shared) == {"gate", "report"}
    assert set(second.executed) - set(shared) == {"gate", "report"}


@pytest.mark.slow
def test_runs_that_name_two_models_in_another_order_do_not_wait_for_ever(
    checkout: Checkout,
) -> None:
    checkout.add_model("twin")
    checkout.doit("check:toy", "lint:toy", "check:twin", "lint:twin")
    meeting = checkout.meet_in("convert")
    one = checkout.start("convert:toy", "convert:twin")
    meeting.wait()
    two = checkout.start("convert:twin", "convert:toy")
    waits = _line_with(two, "waiting for")
    meeting.go()
    first, second = finished(one), finished(two)

    assert f"waiting for build/toy: process {one.pid} (" in waits
    assert first.code == second.code == 0
    assert (first.executed, first.restored) == (["convert"], ["convert"])
    assert second.executed == []


EIGHT = {
    "one-model": (["toy"], [["model=toy"], ["-n", "2", "model=toy"]]),
    "several-models": (
        ["toy", "twin", "other"],
        [["toy", "twin"], ["twin", "other", "toy"], [], ["-n", "2", "-P", "process"]],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("models", "commands"), EIGHT.values(), ids=EIGHT)
def test_eight_runs_at_once_execute_each_stage_once(
    fresh: Checkout, models: list[str], commands: list[list[str]]
) -> None:
    """Model `twin` shares all stages but the last two with `toy`, `other` only some."""
    for model in models[1:]:
        fresh.add_model(model)
    if "other" in models:
        fresh.edit("pipelines/other/manifest.yaml", "Ascend310P3", "Ascend310B1")
        for name in ("model", "data", "metric"):
            fresh.edit(f"pipelines/other/{name}.py", "return", "x = 0; return")
    # Makes the plans: who reads a manifest while another's stage is watched is seen as that
    # stage, whose record then holds for that model alone.
    assert fresh.doit("list").code == 0
    started = [fresh.start(*commands[number % len(commands)]) for number in range(8)]
    runs = [finished(each) for each in started]
    executed = sorted(stage for run in runs for stage in run.executed)
    again = fresh.doit()

    assert [run.code for run in runs] == [0] * 8
    once = {"toy": ALL, "twin": ["gate", "report"], "other": [*ALL[:3], *FROM_LINT]}
    assert executed == sorted(stage for model in models for stage in once[model])
    assert (again.code, again.executed, again.restored) == (0, [], [])


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
    with (
        trouble(checkout, "samples", "waits-at-its-end") as meeting,
        checkout.start("-a", stderr=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        meeting.wait()
        process.stdout.close()
        meeting.go()
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
