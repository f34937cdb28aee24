"""Child processes of doit's process: a log, limits, and a sure end.

Each child leads a session and a process group of its own. Whatever ends it, its whole
group ends with it, and what left the group; if this process dies, the child's lifeline
closes (see `ascendflow.child.lifeline`) and they end too.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ascendflow.child.lifeline import VARIABLE
from ascendflow.child.mark import MARK, end_marked, new_mark
from ascendflow.errors import ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Reason = Literal["timeout", "memory", "interrupted"]

POLL_S = 0.5
BYTES_PER_GB = 10**9


@dataclass(frozen=True)
class ExitStatus:
    """How a child ended.

    Attributes:
        returncode: what it exited with; negative: the signal that killed it.
        reason: why this process ended it, or None if it ended by itself.
        explanation: a phrase with both values, e.g. "ran for 61 s, limits.timeout_s is
            60"; None if it ended by itself with 0.
        wall_s: how long it ran, seconds.
    """

    returncode: int
    reason: Reason | None
    explanation: str | None
    wall_s: float

    @property
    def signal(self) -> int | None:
        """The signal that killed it, or None."""
        return -self.returncode if self.returncode < 0 else None


@dataclass(frozen=True)
class Limits:
    """What a child may take. None is no limit.

    Attributes:
        timeout_s: wall time, seconds.
        memory_gb: memory of all its processes together, 10^9 bytes. Looked at twice a
            second, so a quick allocation can go further for a moment.
    """

    timeout_s: float | None = None
    memory_gb: float | None = None


class _Child:
    """A running child, the write end of its lifeline, and the mark of its descendants."""

    def __init__(
        self, process: subprocess.Popen[bytes], lifeline: int, mark: str, parent: int
    ) -> None:
        self.process = process
        self._mark = mark
        self.started = time.monotonic()
        self.parent_of_worker = parent
        self.ended_for: tuple[Reason, str] | None = None
        self._lifeline = lifeline
        self._ending = _descriptor_of(process.pid)

    def elapsed_s(self) -> float:
        return time.monotonic() - self.started

    def ends_within(self, seconds: float) -> bool:
        """Wait for its end, at most so long."""
        if self._ending is not None:
            poll = select.poll()  # not `select.select`, which knows 1,024 descriptors
            poll.register(self._ending, select.POLLIN)
            poll.poll(1000 * seconds)
            seconds = 0
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self, reason: Reason, explanation: str) -> None:
        """End the group and what left it, and say why; the first reason holds."""
        self.ended_for = self.ended_for or (reason, explanation)
        _kill_group(self.process.pid)
        end_marked(self._mark)  # not left to `close`: the thread that calls it may be gone

    def close(self) -> None:
        """End what is left of the group, what left it, and reap the child."""
        # The watcher lives until now and keeps the group's number from being used again.
        _kill_group(self.process.pid)
        end_marked(self._mark)
        os.close(self._lifeline)
        self.process.wait()
        if self._ending is not None:
            os.close(self._ending)

    def status(self) -> ExitStatus:
        code = self.process.returncode
        if self.ended_for is not None:
            reason, explanation = self.ended_for
            return ExitStatus(code, reason, explanation, self.elapsed_s())
        return ExitStatus(code, None, _explain(code), self.elapsed_s())


_live: set[_Child] = set()
# Reentrant: the signal handler that calls `end_all` may interrupt whoever holds it.
_lock = threading.RLock()


def run_child(  # noqa: PLR0913  all but argv by name
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    log: Path,
    stdin: int = subprocess.DEVNULL,
    limits: Limits = Limits(),
    on_heartbeat: Callable[[float], None] | None = None,
    heartbeat_s: float = 5.0,
) -> ExitStatus:
    """Run a child to its end. Several threads may do so at once.

    Args:
        argv: program and arguments; no shell.
        cwd: its working folder.
        environment: all of its environment (see `ascendflow.child.command`).
        log: gets its standard output and error.
        stdin: a descriptor that it reads; absent: its input is empty.
        limits: ends the group beyond them.
        on_heartbeat: called with the elapsed seconds, every `heartbeat_s` seconds.
        heartbeat_s: seconds.

    Raises:
        ToolNotFoundError: there is no such program.
    """
    child = _start(argv, cwd, environment, log, stdin)
    try:
        _wait(child, limits, on_heartbeat, heartbeat_s)
    finally:
        with _lock:
            _live.discard(child)
        child.close()
    return child.status()


def end_all() -> None:
    """Kill the groups of all live children, e.g. in a SIGINT or SIGTERM handler.

    Each `run_child` then returns with the reason "interrupted".
    """
    with _lock:
        for child in list(_live):
            child.kill("interrupted", "interrupted")


def tail(log: Path, lines: int = 20) -> str:
    """Return the last lines of a log; "" if there is none."""
    try:
        with log.open(encoding="utf-8", errors="replace") as stream:
            return "".join(deque(stream, maxlen=lines)).rstrip("\n")
    except FileNotFoundError:
        return ""


def _start(
    argv: Sequence[str], cwd: Path, environment: Mapping[str, str], log: Path, stdin: int
) -> _Child:
    # Neither end is inheritable; Popen makes an exception of the read end for this child,
    # so no child holds another's write end.
    read_end, write_end = os.pipe()
    # Our parent before there is a child: it may be gone as soon as there is one.
    mark, parent = new_mark(), os.getppid()
    try:
        with log.open("wb") as output, _lock:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**environment, VARIABLE: str(read_end), MARK: mark},
                stdin=stdin,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(read_end,),
                start_new_session=True,
            )
            child = _Child(process, write_end, mark, parent)
            _live.add(child)
            return child
    except BaseException as error:
        os.close(write_end)
        end_marked(mark)  # an interrupt may come once it runs and before it is in `_live`
        if isinstance(error, FileNotFoundError) and error.filename == argv[0]:
            raise ToolNotFoundError(f"{argv[0]}: no such program") from error
        raise
    finally:
        os.close(read_end)


def _wait(
    child: _Child,
    limits: Limits,
    on_heartbeat: Callable[[float], None] | None,
    heartbeat_s: float,
) -> None:
    next_beat_s = heartbeat_s
    while not child.ends_within(min(POLL_S, heartbeat_s, limits.timeout_s or POLL_S)):
        why = _why_end(child, limits)
        if why is not None:
            child.kill(*why)
        elif on_heartbeat is not None and child.elapsed_s() >= next_beat_s:
            next_beat_s += heartbeat_s
            on_heartbeat(child.elapsed_s())


def _descriptor_of(pid: int) -> int | None:
    """Return a descriptor that is readable once the process ended; None without any.

    `Popen.wait` with a timeout looks again and again, in the end 20 times a second.
    """
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:  # an old kernel, or a sandbox that forbids it
        return None


def _why_end(child: _Child, limits: Limits) -> tuple[Reason, str] | None:
    from multiprocessing import parent_process

    from ascendflow.child.memory import group_bytes

    elapsed_s = child.elapsed_s()
    if limits.timeout_s is not None and elapsed_s > limits.timeout_s:
        text = f"ran for {elapsed_s:.1f} s, limits.timeout_s is {limits.timeout_s:g}"
        return "timeout", text
    if limits.memory_gb is not None:
        limit = limits.memory_gb * BYTES_PER_GB
        if (used := group_bytes(child.process.pid, enough=limit)) > limit:
            gb = used / BYTES_PER_GB
            return "memory", f"used {gb:.2f} GB, limits.memory_gb is {limits.memory_gb:g}"
    # A worker of another process, and that is gone. Not its `is_alive()`: the workers
    # that were forked later keep open what it looks at.
    # And not its number: a fork server may be the worker's parent.
    if parent_process() is not None and child.parent_of_worker != os.getppid():
        return "interrupted", "was ended, as the main process is gone"
    return None


def _kill_group(group: int) -> None:
    # All may be gone; of a group of zombies macOS says EPERM.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _explain(returncode: int) -> str | None:
    if returncode == 0:
        return None
    if returncode > 0:
        return f"exited with status {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = str(-returncode)
    hint = " (the system may have run out of memory)" if name == "SIGKILL" else ""
    return f"was killed by {name}{hint}"
