"""Children end when they should, with all that they started."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Never

import pytest

from ascendflow import process as module
from ascendflow.child.command import child_environment
from ascendflow.child.mark import MARK, end_marked
from ascendflow.child.memory import _proportional_bytes, group_bytes, group_bytes_by_ps
from ascendflow.errors import ToolNotFoundError
from ascendflow.process import ExitStatus, Limits, end_all, run_child, tail
from tests.children import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
PATIENCE_S = 120.0


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def run(tmp_path: Path, code: str, limits: Limits = Limits()) -> ExitStatus:  # noqa: B008
    return run_child(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        environment=child_environment({}, threads=1),
        log=tmp_path / "log.txt",
        limits=limits,
    )


def run_until(is_so: Callable[[], bool], tmp_path: Path, code: str) -> None:
    """Run a child until something holds, then interrupt its heartbeat."""

    def interrupt(_: float) -> None:
        if is_so():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_child(
            [sys.executable, "-c", textwrap.dedent(code)],
            cwd=tmp_path,
            environment=child_environment({}, threads=1),
            log=tmp_path / "log.txt",
            limits=Limits(timeout_s=PATIENCE_S),
            on_heartbeat=interrupt,
            heartbeat_s=0.05,
        )


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def alive(group: int) -> list[str]:
    """Return the processes of a group that have not ended."""
    table = subprocess.run(
        ["ps", "-A", "-o", "pgid=,pid=,state="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in table.splitlines()]
    return [pid for pgid, pid, state in rows if int(pgid) == group and state[0] != "Z"]


def wait_until_ended(groups: list[int]) -> None:
    try:
        wait_until(lambda: not any(map(alive, groups)))
    finally:
        for group in filter(alive, groups):
            os.killpg(group, signal.SIGKILL)


def has_number(file: Path) -> bool:
    return file.exists() and file.read_text().endswith("\n")


def number_in(file: Path) -> int:
    wait_until(lambda: has_number(file))
    return int(file.read_text())


def test_a_child_that_ends_by_itself_is_reported_as_it_ended(tmp_path: Path) -> None:
    done = run(tmp_path, "print('hello'); import sys; print('there', file=sys.stderr)")
    failed = run(tmp_path, "raise SystemExit(3)")
    killed = run(tmp_path, "import os; os.kill(os.getpid(), 11)")

    assert (done.returncode, done.reason, done.explanation) == (0, None, None)
    assert (failed.returncode, failed.explanation) == (3, "exited with status 3")
    assert (killed.signal, killed.explanation) == (11, "was killed by SIGSEGV")


@pytest.mark.parametrize("descriptor", ["of the process", "none"])
def test_the_end_of_a_child_is_seen_with_and_without_a_descriptor_of_it(
    tmp_path: Path, descriptor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if descriptor == "none":

        def refuse(_pid: int) -> int:
            raise OSError(errno.ENOSYS, "Function not implemented")

        monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    before = len(os.listdir("/dev/fd"))
    done = run(tmp_path, "raise SystemExit(3)")
    late = run(tmp_path, "import time; time.sleep(60)", limits=Limits(timeout_s=0.2))

    assert (done.returncode, done.reason, late.reason) == (3, None, "timeout")
    assert len(os.listdir("/dev/fd")) == before


def test_the_log_holds_both_streams_and_the_input_is_empty(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        import sys
        print(repr(sys.stdin.read()), flush=True)
        print('oops', file=sys.stderr)
        """,
    )

    assert (tmp_path / "log.txt").read_text() == "''\noops\n"


def test_tail_gives_the_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"".join(b"line %d \xff\n" % n for n in range(30)))

    assert tail(log, 2) == "line 28 \ufffd\nline 29 \ufffd"
    assert tail(tmp_path / "none.txt") == ""


def test_a_child_over_its_time_is_killed_with_both_values(tmp_path: Path) -> None:
    status = run(tmp_path, "import time; time.sleep(1000)", Limits(timeout_s=0.3))

    assert status.reason == "timeout"
    assert status.signal == signal.SIGKILL
    assert status.explanation is not None
    ran, limit = status.explanation.split(" s, ")
    assert float(ran.removeprefix("ran for ")) >= 0.3
    assert limit == "limits.timeout_s is 0.3"


def test_a_child_over_its_memory_is_killed_with_both_values(tmp_path: Path) -> None:
    # Half in the child and half in a grandchild: neither alone is over the limit.
    code = """
        import subprocess, sys, time
        half = bytearray(60_000_000)
        subprocess.run([sys.executable, '-c',
            'import time; half = bytearray(60_000_000); time.sleep(1000)'])
        """
    status = run(tmp_path, code, Limits(memory_gb=0.1, timeout_s=PATIENCE_S))

    assert status.reason == "memory"
    assert status.explanation is not None
    assert status.explanation.startswith("used 0.1")
    assert status.explanation.endswith("GB, limits.memory_gb is 0.1")


@needs_proc
def test_memory_of_a_childs_own_child_counts_too(tmp_path: Path) -> None:
    code = """
        import sys
        from pathlib import Path
        from ascendflow.process import run_child
        code = "block = bytearray(120_000_000); import time; time.sleep(1000)"
        run_child(
            [sys.executable, "-c", code], cwd=Path(), environment={}, log=Path("inner")
        )
        """
    status = run(tmp_path, code, Limits(memory_gb=0.1, timeout_s=PATIENCE_S))

    assert status.reason == "memory"


@needs_proc
def test_pages_shared_with_a_fork_count_once(tmp_path: Path) -> None:
    code = """
        import os, time
        shared = bytearray(b'x') * 60_000_000
        if os.fork() == 0:
            time.sleep(2)
            os._exit(0)
        os.wait()
        """
    status = run(tmp_path, code, Limits(memory_gb=0.1, timeout_s=PATIENCE_S))

    assert status.returncode == 0, status


@needs_proc
def test_who_ended_as_it_was_looked_at_holds_no_memory() -> None:
    """Else a fork that ends counts for all pages that it shared, and the run is ended."""
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    held = _proportional_bytes(str(process.pid), default=10**9)
    process.wait()

    assert held == 0


@needs_proc
def test_ps_and_proc_agree_about_memory(tmp_path: Path) -> None:
    code = (
        "block = bytearray(100_000_000); open('ready', 'w').write('1\\n');"
        "import time; time.sleep(1000)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, start_new_session=True
    )
    try:
        number_in(tmp_path / "ready")
        by_ps = group_bytes_by_ps(process.pid)
        by_proc = group_bytes(process.pid, enough=0)
    finally:
        process.kill()
        process.wait()

    assert by_ps > 100e6
    assert by_proc == pytest.approx(by_ps, rel=0.2)


def test_a_program_that_is_not_there_is_a_tool_not_found(tmp_path: Path) -> None:
    with pytest.raises(ToolNotFoundError, match="no-such-program"):
        run_child(
            ["no-such-program"], cwd=tmp_path, environment={}, log=tmp_path / "log.txt"
        )


def test_the_heartbeat_tells_the_elapsed_time(tmp_path: Path) -> None:
    beats: list[float] = []
    reads, writes = os.pipe()

    def beat(elapsed_s: float) -> None:
        beats.append(elapsed_s)
        if len(beats) == 3:
            os.close(writes)  # which ends the child

    run_child(
        ["cat"],
        cwd=tmp_path,
        environment=child_environment({}, threads=1),
        log=tmp_path / "log.txt",
        stdin=reads,
        on_heartbeat=beat,
        heartbeat_s=0.2,
    )
    os.close(reads)

    assert beats == sorted(beats)
    assert all(beat >= 0.2 * number for number, beat in enumerate(beats, start=1))


def test_a_heartbeat_that_raises_leaves_no_child(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = "import os, time; open('pid', 'w').write(f'{os.getpid()}\\n'); time.sleep(1000)"
    run_until(lambda: has_number(pid), tmp_path, code)

    assert alive(number_in(pid)) == []


@needs_proc
def test_an_interrupt_as_a_child_is_started_leaves_no_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs, nobody knows of it yet, and a program of others watches no lifeline."""
    started = []

    def interrupt(process: subprocess.Popen[bytes], *_: object) -> Never:
        started.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_Child", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_child(["sleep", "1000"], cwd=tmp_path, environment={}, log=tmp_path / "log")

    assert started[0].wait(PATIENCE_S) == -signal.SIGKILL


@needs_proc
def test_who_is_killed_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may give it no turn to end in for a while."""
    told: list[int] = []
    kill = os.kill

    def late(pid: int, number: int) -> None:
        told.append(pid)
        if len(told) > 2:
            kill(pid, number)

    monkeypatch.setattr(os, "kill", late)
    process = subprocess.Popen(["sleep", "1000"], env={**os.environ, MARK: "late"})
    end_marked("late")
    is_told = len(told) > 2
    kill(process.pid, signal.SIGKILL)
    process.wait()

    assert is_told


def test_grandchildren_left_behind_end_with_the_child(repository: Repository) -> None:
    result = repository.reads("""
        import os, subprocess
        subprocess.Popen(['sleep', '1000'])
        ctx.findings.facts['group'] = os.getpgrp()
        """)

    wait_until_ended([result["facts"]["group"]])


ESCAPES = {
    "forked": "time.sleep(1000)",
    "another-program": "os.execvp('sleep', ['sleep', '1000'])",
}
ESCAPE = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open('partial', 'w') as f:
            f.write(f'{{os.getpgrp()}}\\n')
        os.rename('partial', 'escaped')
        {then}
    os._exit(0)
os.wait()
while not os.path.exists('escaped'):
    time.sleep(0.01)
"""


@needs_proc
@pytest.mark.parametrize("then", ESCAPES.values(), ids=ESCAPES)
def test_what_left_the_group_ends_with_the_child(tmp_path: Path, then: str) -> None:
    run(tmp_path, ESCAPE.format(then=then))

    wait_until_ended([number_in(tmp_path / "escaped")])


NESTED = """
import sys
from pathlib import Path
from ascendflow.process import run_child
code = "import os, time; print(os.getpgrp(), flush=True); time.sleep(1000)"
run_child([sys.executable, "-c", code], cwd=Path(), environment={}, log=Path("escaped"))
"""


@needs_proc
def test_a_childs_own_child_ends_with_it(tmp_path: Path) -> None:
    escaped = tmp_path / "escaped"
    run_until(lambda: has_number(escaped), tmp_path, NESTED)

    wait_until_ended([number_in(escaped)])


@needs_proc
def test_processes_of_others_are_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    run(tmp_path, ESCAPE.format(then=ESCAPES["forked"]))
    is_alive = other.poll() is None
    other.kill()
    other.wait()

    assert is_alive


def test_end_all_ends_every_child_of_every_thread(tmp_path: Path) -> None:
    statuses: list[ExitStatus] = []

    def one(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        code = "import time; open('ready', 'w').write('1\\n'); time.sleep(1000)"
        statuses.append(run(folder, code))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for number in range(3):
        number_in(tmp_path / str(number) / "ready")
    end_all()
    for thread in threads:
        thread.join(PATIENCE_S)

    assert [status.reason for status in statuses] == ["interrupted"] * 3


PARENT = """
import sys, threading
from pathlib import Path
sys.path.insert(0, {top!r})
from tests.children import Repository

threads = []
for number in range(2):
    repository = Repository(Path({tmp!r}) / str(number))
    threads.append(threading.Thread(target=repository.run, args=({body!r},)))
for thread in threads:
    thread.start()
"""
SAY_GROUP = """
import os, subprocess
subprocess.Popen(['sleep', '1000'])
with open(ctx.folder / '../../../group', 'w') as f:
    f.write(f'{os.getpgrp()}\\n')
"""
STUCK = {
    "in-python": "import time; time.sleep(1000)",
    "in-native-code-with-the-lock": "import ctypes; ctypes.PyDLL(None).sleep(1000)",
}


@pytest.mark.parametrize("stuck", STUCK.values(), ids=STUCK)
def test_a_parent_that_is_killed_leaves_nothing(tmp_path: Path, stuck: str) -> None:
    top = str(Path(__file__).resolve().parents[2])
    code = PARENT.format(top=top, tmp=str(tmp_path), body=f"{SAY_GROUP}\n{stuck}\n")
    # Two children at once: neither may hold the other's lifeline.
    parent = subprocess.Popen([sys.executable, "-c", code])
    groups = [number_in(tmp_path / str(number) / "group") for number in range(2)]
    try:
        assert all(len(alive(group)) >= 3 for group in groups)  # stage, watcher, sleep
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()

    wait_until_ended(groups)


def test_a_worker_whose_main_process_is_killed_ends_its_child(tmp_path: Path) -> None:
    # As with `doit -P process`: the lifeline is the worker's, and the worker lives on.
    top = str(Path(__file__).resolve().parents[2])
    inner = PARENT.format(top=top, tmp=str(tmp_path), body=SAY_GROUP + STUCK["in-python"])
    code = (
        "import multiprocessing, time\n"
        f"work = lambda: exec({inner!r}, {{}})\n"
        "multiprocessing.get_context('fork').Process(target=work).start()\n"
        "time.sleep(1000)\n"
    )
    main = subprocess.Popen([sys.executable, "-c", code])
    groups = [number_in(tmp_path / str(number) / "group") for number in range(2)]
    main.send_signal(signal.SIGKILL)
    main.wait()

    wait_until_ended(groups)


def test_the_environment_is_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})
    for name in (
        "PATH",
        "HOME",
        "LC_ALL",
        "SECRET",
        "PYTHONPATH",
        "PYTHONDONTWRITEBYTECODE",
    ):
        os.environ[name] = "ours"
    environment = child_environment({"MINE": "1", "OMP_NUM_THREADS": "8"}, threads=2)

    passed = {name for name, value in environment.items() if value == "ours"}
    assert passed == {"PATH", "HOME", "LC_ALL"}
    assert environment["OPENBLAS_NUM_THREADS"] == "2"
    assert environment["OMP_NUM_THREADS"] == "8"
    assert environment["MINE"] == "1"
    assert environment["PYTHONHASHSEED"] == "0"


def test_a_checkout_is_on_the_childs_path_before_the_users(tmp_path: Path) -> None:
    environment = child_environment({"PYTHONPATH": str(tmp_path)}, threads=1)
    checkout = str(Path(__file__).resolve().parents[2])

    assert environment["PYTHONPATH"].split(os.pathsep) == [checkout, str(tmp_path)]


def test_child_reads_what_it_is_given_and_sees_its_end(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    os.write(writes, b"one\n")
    os.close(writes)
    log = tmp_path / "log.txt"
    argv = [sys.executable, "-c", "import sys; print(sys.stdin.read(), 'end')"]

    run_child(argv, cwd=tmp_path, environment={}, log=log, stdin=reads)

    os.close(reads)
    assert log.read_text() == "one\n end\n"
