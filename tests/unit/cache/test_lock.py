from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from queue import Queue
from typing import TYPE_CHECKING

import pytest

from ascendflow.cache.lock import hold, remove_if_free
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys, time
from ascendflow.cache.lock import hold
with hold(sys.argv[1], note="the other run"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_waits_is_told_for_whom_and_gets_the_lock_of_a_killed_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "locks" / "a.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        notes: list[str] = []

        def on_wait(note: str) -> None:
            notes.append(note)
            child.kill()

        with hold(path, on_wait=on_wait):
            pass

    assert notes == ["the other run"]


def test_holder_without_a_note_is_another_process(tmp_path: Path) -> None:
    path, notes = tmp_path / "a.lock", []
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)

    def on_wait(note: str) -> None:
        notes.append(note)
        os.close(descriptor)

    with hold(path, on_wait=on_wait):
        pass

    assert notes == ["another process"]


def test_threads_hold_it_one_after_the_other(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        with hold(tmp_path / "a.lock"):
            inside.append(1)
            time.sleep(0.01)  # lets the others in, if they could
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == [1] * 8


def test_locks_of_other_names_do_not_wait(tmp_path: Path) -> None:
    with hold(tmp_path / "a.lock"), hold(tmp_path / "b.lock", on_wait=pytest.fail):
        pass


def test_an_error_inside_frees_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold(tmp_path / "a.lock"):
        raise ZeroDivisionError
    with hold(tmp_path / "a.lock", on_wait=pytest.fail):
        pass


def test_a_held_lock_is_not_deleted_and_a_free_one_is(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with hold(path):
        assert not remove_if_free(path)

    assert remove_if_free(path)
    assert not remove_if_free(path)


def test_who_waited_for_a_lock_that_was_deleted_takes_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    events: Queue[str] = Queue()

    def late() -> None:
        with hold(path, on_wait=lambda _: events.put("late waits")):
            events.put("late has it")

    thread = threading.Thread(target=late)
    first = ExitStack()
    first.enter_context(hold(path))
    thread.start()
    seen = [events.get()]
    path.unlink()
    with hold(path):  # a third one, on a new file
        first.close()
        seen.append(events.get())
    thread.join()

    assert seen == ["late waits", "late waits"]
    assert events.get() == "late has it"


def test_a_place_where_no_lock_can_be_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(AscendflowError, match="file"), hold(tmp_path / "file" / "a.lock"):
        pass


def test_lock_that_is_soon_free_is_not_worth_a_word(tmp_path: Path) -> None:
    first = ExitStack()
    first.enter_context(hold(tmp_path / "a.lock"))
    timer = threading.Timer(0.1, first.close)
    timer.start()
    with hold(tmp_path / "a.lock", on_wait=pytest.fail, patience_s=60):
        timer.join()


def test_lock_that_is_not_soon_free_is_told_of_once(tmp_path: Path) -> None:
    first, notes = ExitStack(), []
    first.enter_context(hold(tmp_path / "a.lock", note="the first"))

    def on_wait(note: str) -> None:
        notes.append(note)
        first.close()

    with hold(tmp_path / "a.lock", on_wait=on_wait, patience_s=0.1):
        pass

    assert notes == ["the first"]


def test_lock_on_a_full_disk_is_held_without_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with hold(tmp_path / "a.lock", note="me"):
        assert not remove_if_free(tmp_path / "a.lock")
