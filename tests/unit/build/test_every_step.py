"""Killed, or refused by the disk, at any of its own steps, a build costs one more run."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.build.locks import RunLocks
from ascendflow.errors import AscendflowError
from tests.workshops import Workshop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STEPS = ("open", "os.mkdir", "os.rename", "os.rmdir", "os.remove", "os.utime", "os.chmod")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Killed(BaseException):
    """Stands for SIGKILL: from then on every step raises it, so that nothing is cleared."""


class Steps:
    """Counts the steps that change files, and lets one of them go wrong.

    Attributes:
        taken: how many were taken since `arm`.
    """

    def __init__(self) -> None:
        self._go_wrong: Callable[[int], None] | None = None
        self.taken = 0
        sys.addaudithook(self._hook)  # for the life of this process; idle unless armed

    def arm(self, go_wrong: Callable[[int], None]) -> None:
        """Call `go_wrong` with the number of each step, from 0."""
        self.taken, self._go_wrong = 0, go_wrong

    def disarm(self) -> None:
        """Let all steps go well."""
        self._go_wrong = None

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if self._go_wrong is None or event not in STEPS:
            return
        if event == "open" and not (args[2] & WRITES and isinstance(args[0], str)):
            return
        self.taken += 1
        self._go_wrong(self.taken - 1)


@pytest.fixture(scope="module")
def steps() -> Steps:
    return Steps()


@pytest.fixture
def started(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], Workshop]:
    """Return how to get a workshop of its own in which `convert` is the next stage."""
    workshop.bring_up("rewrite")

    def start(number: int) -> Workshop:
        repository = tmp_path / str(number) / "repository"
        shutil.copytree(workshop.repository, repository)
        return Workshop(repository, exists=True).use(monkeypatch)

    return start


def outputs(workshop: Workshop) -> dict[str, bytes]:
    convert = workshop.path("convert")
    files = (path for path in sorted(convert.rglob("*")) if path.is_file())
    return {
        str(p.relative_to(convert)): p.read_bytes() for p in files if p.suffix != ".txt"
    }


def resumed(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Build `convert` in a new process, as it were."""
    again = Workshop(workshop.repository, exists=True).use(monkeypatch)
    locks = RunLocks()
    assert not locks.hold(again.project, ["toy"], print)
    if not again.judge("convert").is_up_to_date:
        again.bring_up("convert")
    locks._until_exit.close()
    return again


def count(start: Callable[[int], Workshop], steps: Steps) -> tuple[int, dict[str, bytes]]:
    """Return how many steps an undisturbed build takes, and what it makes."""
    undisturbed = start(-1)
    steps.arm(lambda _: None)
    undisturbed.bring_up("convert")
    steps.disarm()
    return steps.taken, outputs(undisturbed)


def test_build_that_is_killed_at_any_step_is_made_good_by_the_next(
    started: Callable[[int], Workshop], steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PL09."""
    total, wanted = count(started, steps)
    executed = []
    for number in range(total):
        workshop = started(number)

        def kill(step: int, number: int = number) -> None:
            if step >= number:
                raise Killed

        steps.arm(kill)
        with pytest.raises(Killed):
            workshop.bring_up("convert")
        steps.disarm()
        again = resumed(workshop, monkeypatch)

        assert outputs(again) == wanted, f"killed at step {number} of {total}"
        assert list(again.path(".work").glob("*")) == []
        executed.append(len(again.executed))

    assert total > 20
    # Once its record is in the store, the work is done.
    assert executed == sorted(executed, reverse=True)
    assert set(executed) == {0, 1}


def test_build_that_a_full_disk_refuses_any_step_says_so_and_is_made_good(
    started: Callable[[int], Workshop], steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    total, wanted = count(started, steps)
    survived = 0
    for number in range(total):
        workshop = started(number)

        def refuse(step: int, number: int = number) -> None:
            if step == number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        said = "No space left on device"
        steps.arm(refuse)
        try:
            workshop.bring_up("convert")
            survived += 1
        except (AscendflowError, OSError) as error:
            said = str(error)
        steps.disarm()
        assert "No space left on device" in said, f"at step {number} of {total}"
        again = resumed(workshop, monkeypatch)

        assert outputs(again) == wanted, f"refused at step {number} of {total}"

    assert survived < total // 2
