"""What a run meets outside of itself: a hostile message, a reader gone, a folder in use."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import finished
from tests.disks import read_only

if TYPE_CHECKING:
    from tests.checkouts import Checkout


def test_clean_waits_for_the_run_that_works_there(checkout: Checkout) -> None:
    meeting = checkout.meet_in("convert")
    one = checkout.start("convert:toy")
    meeting.wait()
    two = checkout.start("clean")
    assert two.stdout is not None
    line = next(line for line in two.stdout if "waiting for" in line)
    meeting.go()
    built, cleaned = finished(one), finished(two)

    assert f"waiting for build/toy: process {one.pid} (" in line
    assert built.code == cleaned.code == 0
    assert "convert:toy executed" in built.text
    assert not checkout.path("build/toy").exists()


def test_dry_clean_does_not_wait(checkout: Checkout) -> None:
    meeting = checkout.meet_in("convert")
    one = checkout.start("convert:toy")
    meeting.wait()
    dry = checkout.doit("clean", "-n")
    meeting.go()

    assert dry.code == 0
    assert "remove build/toy" in dry.text
    assert "waiting" not in dry.text
    assert finished(one).code == 0


def test_clean_of_a_folder_that_stays_fails(checkout: Checkout) -> None:
    with checkout.path("dodo.py").open("a") as dodo:
        dodo.write(
            "from ascendflow.tasks import removal\n"
            "def remove(path):\n"
            "    raise PermissionError(13, 'Permission denied', path)\n"
            "removal.remove = remove\n"
        )
    run = checkout.doit("clean")

    assert run.code == 3
    assert run.text.startswith(
        f"ERROR: cannot use {checkout.path('build/toy')}: Permission"
    )
    assert not run.has_traceback


@pytest.mark.parametrize("command", ["list", "explain", "info"])
def test_reader_that_has_seen_enough_ends_a_command_quietly(
    checkout: Checkout, command: str
) -> None:
    arguments = [command, "gate:toy"] if command == "info" else [command]
    reads, writes = os.pipe()
    os.close(reads)  # before it begins: it may be done before we get to it
    with checkout.start(*arguments, stdout=writes, stderr=subprocess.PIPE) as process:
        os.close(writes)
        assert process.stderr is not None
        error = process.stderr.read()

    assert (process.returncode, error) == (-signal.SIGPIPE, "")


@pytest.mark.parametrize("mode", [[], ["-n", "2"], ["-n", "2", "-P", "process"]])
def test_message_of_user_code_is_told_whatever_it_holds(
    checkout: Checkout, mode: list[str]
) -> None:
    message = r"[/x]{y}%s\x1b[31m\ud800"
    checkout.edit(
        "pipelines/toy/metric.py",
        "return 0.8",
        f'raise ValueError("{message}" + "z" * 5_000_000)',
    )
    run = checkout.doit(*mode)

    assert run.code == 2
    assert f"metric.py:2: ValueError: {message}zzz" in run.text
    assert not run.has_traceback
    assert len(run.text) < 10_000


@pytest.mark.parametrize("folder", [".ascendflow", "build"])
def test_folder_that_cannot_be_used_is_told_without_a_traceback(
    fresh: Checkout, folder: str
) -> None:
    fresh.path(folder).symlink_to(folder)
    listed, run = fresh.doit("list"), fresh.doit()

    assert listed.code == 0
    assert run.code == 2
    assert "Too many levels of symbolic links" in run.text
    assert not run.has_traceback


def test_up_to_date_run_needs_nothing_to_write_to(checkout: Checkout) -> None:
    """As of a checkout that is shared read-only; a stale one is told plainly."""
    checkout.doit("list")  # leaves bytecode
    with read_only(checkout.folder):
        current = checkout.doit()
    checkout.edit("pipelines/toy/metric.py", "0.8", "0.7")
    with read_only(checkout.folder):
        stale = checkout.doit()

    assert (current.code, current.executed, current.restored) == (0, [], [])
    assert stale.code == 2
    assert "Read-only file system" in stale.text
    assert "hint: make that folder writable" in stale.text
    assert not stale.has_traceback
