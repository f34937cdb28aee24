"""A run that is ended, however, leaves nothing half-made, no process and no lock."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import finished, is_alive, until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from tests.checkouts import Checkout

MODES = {
    "serial": [],
    "threads": ["-n", "2"],
    "processes": ["-n", "2", "-P", "process"],
}


class HalfWay:
    """A run whose `convert` has half an output and a process of its own, and waits.

    Attributes:
        doit: the run.
        child: process id of the stage.
    """

    def __init__(self, checkout: Checkout, options: list[str]) -> None:
        self.checkout = checkout
        checkout.inject(
            "convert",
            "import subprocess",
            "subprocess.Popen(['sleep', '600'])",
            "ctx.outputs['model'].mkdir()",
            "(ctx.outputs['model'] / 'content.json').write_text('half')",
        )
        self._meeting = checkout.meet_in("convert")
        self.doit = checkout.start(*options)
        self.child = self._meeting.wait()
        self.processes = [self.doit.pid, *_started_by(self.doit.pid)]

    def assert_nothing_is_left(self) -> None:
        """No process, and nothing where a reader looks."""
        until(lambda: not any(map(is_alive, self.processes)), seconds=10)
        convert = self.checkout.path("build/toy/convert")
        assert not [path for path in convert.glob("*") if path.name != "log.txt"]

    def assert_the_next_run_resumes(self) -> None:
        """It executes that one stage, and clears up."""
        self._meeting.go()
        run = self.checkout.doit()

        assert (run.code, run.executed) == (0, ["convert"])
        assert "waiting for" not in run.text
        assert os.listdir(self.checkout.path("build/toy/.work")) == []
        content = self.checkout.path("build/toy/convert/model/content.json").read_text()
        assert content.startswith("{")


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Keep runs here, to be ended if a test fails half-way."""
    runs: list[subprocess.Popen[str]] = []
    yield runs
    for run in runs:
        if run.poll() is None:
            run.kill()
            run.communicate()


@pytest.mark.parametrize("options", MODES.values(), ids=MODES.keys())
def test_killed_run_leaves_nothing_and_the_next_resumes(
    checkout: Checkout, options: list[str], started: list[subprocess.Popen[str]]
) -> None:
    """PL09."""
    half_way = HalfWay(checkout, options)
    started.append(half_way.doit)
    half_way.doit.kill()
    finished(half_way.doit)

    half_way.assert_nothing_is_left()
    half_way.assert_the_next_run_resumes()


@pytest.mark.parametrize("options", MODES.values(), ids=MODES.keys())
@pytest.mark.parametrize(
    ("number", "whom"),
    [
        pytest.param(signal.SIGINT, "group", id="ctrl-c"),
        pytest.param(signal.SIGTERM, "doit", id="sigterm"),
    ],
)
def test_interrupted_run_exits_with_130_and_the_next_resumes(
    checkout: Checkout,
    options: list[str],
    number: signal.Signals,
    whom: str,
    started: list[subprocess.Popen[str]],
) -> None:
    half_way = HalfWay(checkout, options)
    started.append(half_way.doit)
    (os.killpg if whom == "group" else os.kill)(half_way.doit.pid, number)
    run = finished(half_way.doit)

    assert run.code == 130
    assert not run.has_traceback
    assert run.text.count(f"interrupted by {number.name}; what was built is kept") == 1
    half_way.assert_nothing_is_left()
    half_way.assert_the_next_run_resumes()


def test_killed_child_is_an_error_of_its_stage(
    checkout: Checkout, started: list[subprocess.Popen[str]]
) -> None:
    half_way = HalfWay(checkout, [])
    started.append(half_way.doit)
    os.kill(half_way.child, signal.SIGKILL)
    run = finished(half_way.doit)

    assert run.code == 2
    assert "convert: its child process was killed by SIGKILL" in run.text
    assert not run.has_traceback
    half_way.assert_nothing_is_left()
    half_way.assert_the_next_run_resumes()


def test_interrupted_run_keeps_the_stages_that_had_ended(
    fresh: Checkout, started: list[subprocess.Popen[str]]
) -> None:
    half_way = HalfWay(fresh, [])
    started.append(half_way.doit)
    half_way.doit.terminate()
    run = finished(half_way.doit)
    resumed = fresh.doit("check:toy")

    assert "check" in run.executed
    assert resumed.executed == []


def _started_by(pid: int) -> list[int]:
    """All descendants of a process, also those with a group of their own."""
    found, waiting = [], [pid]
    while waiting:
        parent = waiting.pop()
        for task in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{task}/children", encoding="ascii") as file:
                children = [int(child) for child in file.read().split()]
            found += children
            waiting += children
    return found
