"""The worker is there for its caller, and ends with it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.worker_file import write_worker
from tests.checkouts import is_alive, until
from tests.processes import processes_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SILENCE_S = 2.0
DEVICE = """\
import ctypes, os, signal, time
def get_soc_name():
    open("reached", "w").close()
    {}
"""
BUSY = "time.sleep(600)"
HOLDS_PYTHON = "ctypes.PyDLL(None).sleep(600)"
WRITES = "for number in range(1_000_000_000): open(str(number), 'w').close()"
DIES = "os.kill(os.getpid(), signal.SIGSEGV)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".ascendflow" / "0f"
    made.mkdir(parents=True)
    write_worker(made)
    job = {"silence_s": SILENCE_S, "soc_version": "Ascend310P3", "samples": []}
    (made / "job.json").write_text(json.dumps(job))
    return made


@pytest.fixture
def worker(folder: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with running(folder, tmp_path, BUSY, subprocess.PIPE) as process:
        yield process


@contextmanager
def running(
    folder: Path, tmp_path: Path, device: str, stdin: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the worker, and wait until it is at the device."""
    (tmp_path / "acl.py").write_text(DEVICE.format(device))
    argv = [sys.executable, "-u", str(folder / "worker.pyz"), str(folder), "held"]
    around = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(argv, stdin=stdin, env=around) as process:
        try:
            while not (folder / "reached").exists():
                assert process.poll() is None
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


def test_caller_that_is_gone_is_not_waited_for(
    worker: subprocess.Popen[bytes], folder: Path
) -> None:
    assert worker.stdin is not None
    worker.stdin.close()
    assert worker.wait(10) == 3
    assert not folder.parent.exists()


def test_caller_that_says_nothing_is_gone_too(
    worker: subprocess.Popen[bytes], folder: Path
) -> None:
    """A connection that was cut in between closes nothing for hours."""
    assert worker.stdin is not None
    for _ in range(6):
        worker.stdin.write(b"\n")
        worker.stdin.flush()
        time.sleep(SILENCE_S / 4)
    assert worker.poll() is None
    assert worker.wait(10 * SILENCE_S) == 3
    assert not folder.exists()


@pytest.mark.parametrize("device", [HOLDS_PYTHON, WRITES])
def test_what_a_device_does_meanwhile_keeps_nothing_there(
    folder: Path, tmp_path: Path, device: str
) -> None:
    """Neither native code that lets no other thread run, nor files still being written."""
    with running(folder, tmp_path, device, subprocess.PIPE) as worker:
        assert worker.stdin is not None
        worker.stdin.close()
        assert worker.wait(60) == 3
    assert not folder.parent.exists()


def test_connection_that_ends_as_an_error_is_an_end(folder: Path, tmp_path: Path) -> None:
    """An sshd that dies with unread words of ours resets its socket."""
    ours, its = socket.socketpair()
    with ours, its, running(folder, tmp_path, BUSY, its.fileno()) as worker:
        its.send(b"unread")
        ours.close()
        assert worker.wait(60) == 3
    assert not folder.parent.exists()


def test_device_that_dies_is_told_as_a_shell_would(folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path, DIES, subprocess.PIPE) as worker:
        assert worker.wait(60) == 128 + signal.SIGSEGV
    assert (folder / "job.json").is_file()


def test_folder_that_is_not_a_boards_is_never_taken_away(
    tmp_path: Path, folder: Path
) -> None:
    own = tmp_path / "own"
    folder.rename(own)
    with running(own, tmp_path, BUSY, subprocess.PIPE) as worker:
        assert worker.stdin is not None
        worker.stdin.close()
        assert worker.wait(60) == 3
    assert (own / "job.json").is_file()


STARTS = (
    "import subprocess; started = subprocess.Popen(['sleep', '600']); "
    "open('started', 'w').write(str(started.pid)); {}"
)


def started(folder: Path) -> int:
    """Wait until the device has started something, and return its number."""
    until(
        lambda: (
            bool(list(folder.glob("started"))) and (folder / "started").read_text() != ""
        )
    )
    return int((folder / "started").read_text())


@pytest.mark.parametrize("ending", [DIES, "os._exit(0)", "pass"])
def test_what_a_device_started_ends_with_it(
    folder: Path, tmp_path: Path, ending: str
) -> None:
    with running(folder, tmp_path, STARTS.format(ending), subprocess.PIPE) as worker:
        pid = started(folder)
        worker.wait(60)
    until(lambda: not is_alive(pid))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("device", [BUSY, HOLDS_PYTHON])
def test_worker_that_is_stopped_leaves_nothing_at_work(
    folder: Path, tmp_path: Path, device: str, number: signal.Signals
) -> None:
    with running(folder, tmp_path, STARTS.format(device), subprocess.PIPE) as worker:
        pid = started(folder)
        worker.send_signal(number)
        assert worker.wait(60) == 128 + number
        # It was killed; it ends when it gets its turn.
        until(lambda: processes_in(folder) == [])
    until(lambda: not is_alive(pid))
    assert (folder / "job.json").is_file()  # its caller is there, and comes for it


def test_worker_that_is_killed_leaves_no_child_at_work(
    folder: Path, tmp_path: Path
) -> None:
    with running(folder, tmp_path, HOLDS_PYTHON, subprocess.PIPE) as worker:
        assert len(processes_in(folder)) == 2
        worker.kill()
        worker.wait(60)
    until(lambda: processes_in(folder) == [])


def test_folder_that_a_later_run_asks_in_is_left_to_it(
    folder: Path, tmp_path: Path
) -> None:
    """The way to the first caller is cut, and the same model is run anew meanwhile."""
    (folder / "look.json").write_text("{}")
    with running(folder, tmp_path, BUSY, subprocess.PIPE) as worker:
        (folder / "look.json").write_text("{}")
        assert worker.wait(60) == 3
        assert processes_in(folder) == []
    assert (folder / "job.json").is_file()
