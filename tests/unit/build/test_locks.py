from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ascendflow.build.locks import RunLocks

if TYPE_CHECKING:
    from tests.workshops import Workshop


def test_second_holder_waits_and_says_for_whom(workshop: Workshop) -> None:
    first, second = RunLocks(), RunLocks()
    said: list[str] = []
    answers: list[bool] = []
    is_told = threading.Event()

    def wait() -> None:
        def say(text: str) -> None:
            said.append(text)
            is_told.set()

        answers.append(second.hold(workshop.project, ["toy"], say))

    assert first.hold(workshop.project, ["toy"], said.append) is False
    assert first.hold(workshop.project, ["toy"], said.append) is False
    assert second.hold(workshop.project, ["other"], said.append) is False
    thread = threading.Thread(target=wait)
    thread.start()
    assert is_told.wait(60)
    assert answers == []
    first._until_exit.close()
    thread.join(60)

    assert answers == [True]
    assert len(said) == 1
    assert said[0].startswith("waiting for build/toy: process ")
    second._until_exit.close()


def test_locks_are_taken_in_the_order_of_their_names(workshop: Workshop) -> None:
    first, second = RunLocks(), RunLocks()
    said: list[str] = []
    is_told = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        is_told.set()

    first.hold(workshop.project, ["b", "a"], say)
    thread = threading.Thread(
        target=second.hold, args=(workshop.project, ["c", "b", "a"], say)
    )
    thread.start()
    assert is_told.wait(60)
    are_held = [second.is_held(name) for name in "abc"]
    first._until_exit.close()
    thread.join(60)

    assert are_held == [False] * 3
    assert said[0].startswith("waiting for build/a: process ")
    assert all(second.is_held(name) for name in "abc")
    second._until_exit.close()


def test_what_a_killed_run_left_is_cleared(workshop: Workshop) -> None:
    left = workshop.path(".work/convert-0123")
    left.mkdir(parents=True)
    (left / "half").touch()
    locks = RunLocks()
    locks.hold(workshop.project, ["toy"], print)
    is_cleared = not left.exists()
    left.mkdir(parents=True)
    locks.hold(workshop.project, ["toy"], print)

    assert is_cleared
    assert left.exists()  # ours by now
    locks._until_exit.close()
