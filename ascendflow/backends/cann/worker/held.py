"""Who sees to it that a job on a board ends with its caller, and leaves nothing there."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from .files import FOLDER, JOB, LOOK, read

if TYPE_CHECKING:
    from collections.abc import Callable

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_S = 1.0
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def hold(run: Callable[[], int]) -> int:
    """Do the job in a child, as long as the caller holds our input and writes to it.

    Where it is gone, the child is killed, whatever native code it is in, and what the
    caller brought is taken away: nobody comes back for it. Whatever ends the child, or
    us, ends what the child started.
    """
    silence_s, begun = read(JOB)["silence_s"], _look()
    ends: list[int] = []  # a signal's number, or 0 where the caller went
    child = _start(run, ends)

    def watch() -> None:
        left_s = silence_s
        while left_s > 0 and _look() == begun:
            heard = _hear(min(LOOK_S, left_s))
            if heard is None:
                break
            left_s = silence_s if heard else left_s - LOOK_S
        ends.append(0)
        _kill(child)

    threading.Thread(target=watch, daemon=True).start()
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # so its number stays its own
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what it started
    status = os.waitpid(child, 0)[1]
    if ends and ends[0]:
        return 128 + ends[0]
    if ends:
        if _look() == begun:
            _take_away()
        return 3
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def end(code: int) -> None:
    """End at once: a native library that crashes as it is unloaded changes nothing."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _start(run: Callable[[], int], ends: list[int]) -> int:
    """Start the child, and kill it where we are to stop; `ends` then tells by what."""
    parent = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        _end_with(parent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        end(run())

    def stop(number: int, _frame: Any) -> None:
        ends.append(number)
        _kill(child)

    for each in STOPS:
        signal.signal(each, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    return child


def _end_with(parent: int) -> None:
    """In the child: let the kernel end it with its parent, should that be killed."""
    with contextlib.suppress(Exception):  # a Python without ctypes, or another system
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:  # it was killed before
        end(3)


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def _hear(seconds: float) -> bool | None:
    """Whether the caller says something in time; None where it is gone, or in error."""
    try:
        if not select.select([0], [], [], seconds)[0]:
            return False
        return True if os.read(0, 4096) else None
    except OSError:
        return None


def _look() -> Any:
    """Tell apart who is at work here: a run, also of the same model, asks anew first."""
    try:
        found = os.stat(LOOK)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _take_away() -> None:
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # the caller took it away itself
        return
    above = os.path.dirname(folder)
    if os.path.basename(above) == FOLDER:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # others are at work in it
            os.rmdir(above)
