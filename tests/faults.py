"""Faults by name, each of which may strike any stage of a checkout of stand-ins.

`FAULTS` is what a story goes through; a new stage meets them by being in the vocabulary,
a new fault meets every stage by being added here. What happens inside of a stage's child
is in `standin.py`: an empty file in `troubles/` beside the checkout asks for it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow import vocabulary
from ascendflow.plan import OF_SEVERAL
from tests.checkouts import Meeting, finished, until
from tests.disks import free, make_read_only
from tests.processes import free_locks, processes_in

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.checkouts import Checkout, Run

    Act = Callable[[subprocess.Popen[str], Checkout, str, int], None]

STAGES = tuple(name for name in vocabulary.STAGES if name not in OF_SEVERAL)
SOME = ("samples", "convert")
"""For what is the same code at every stage: one with user code, one without."""


@contextmanager
def trouble(checkout: Checkout, stage: str, name: str) -> Iterator[Meeting]:
    """Let a stage meet what `standin.py` has by that name; yields where it can be met."""
    troubles = checkout.folder.parent / "troubles"
    troubles.mkdir()
    (troubles / f"{stage}.{name}").touch()
    try:
        yield Meeting(troubles)
    finally:
        shutil.rmtree(troubles)


@contextmanager
def limited(checkout: Checkout, limits: str) -> Iterator[None]:
    """Let a stage end soon that takes too much."""
    line = f"limits: {{{limits}}}\n"
    checkout.edit("pipelines/toy/manifest.yaml", "gate:", f"{line}gate:")
    try:
        yield
    finally:
        checkout.edit("pipelines/toy/manifest.yaml", line, "")


@dataclass(frozen=True)
class Fault:
    """What may go wrong in a run.

    Attributes:
        name: how it is called.
        code: how the run must end.
        said: what it must say; `{stage}` is the stage that was struck.
        trouble: what the stage meets; the name of an entry of `standin.py`.
        act: what is done meanwhile, where the stage waits.
        stages: where it strikes.
        limits: what ends it; then nothing else is in the same run, which they could end.
        goes_on: whether the stage is told to go on after the act.
        disk: the folder of the checkout that has a small disk of its own.
    """

    name: str
    code: int
    said: str
    trouble: str = "waits"
    act: Act | None = None
    stages: tuple[str, ...] = STAGES
    limits: str = ""
    goes_on: bool = False
    disk: str = ""

    def strike(self, checkout: Checkout, stage: str, *options: str) -> Run:
        """Run doit until the fault has struck and the run has ended."""
        if self.limits:
            before = [f"{name}:toy" for name in STAGES[: STAGES.index(stage)]]
            if before:
                checkout.doit(*before)
            with limited(checkout, self.limits), trouble(checkout, stage, self.trouble):
                return checkout.doit(f"{stage}:toy")
        with trouble(checkout, stage, self.trouble) as meeting:
            run = checkout.start(*options)
            try:
                if self.act is not None:
                    self.act(run, checkout, stage, meeting.wait())
                if self.goes_on:
                    meeting.go()
                return finished(run)
            finally:
                if run.poll() is None:
                    run.kill()
                    run.communicate()
                if self.disk:
                    free(checkout.path(self.disk))


def assert_ended_well(checkout: Checkout, stage: str, run: Run, fault: Fault) -> None:
    """The run told what happened, and left no process, lock or half of an output."""
    where = f"{fault.name} in {stage}: {run.text}"
    assert run.code == fault.code, where
    assert fault.said.format(stage=stage) in run.text, where
    assert not run.has_traceback, where
    with suppress(AssertionError):
        until(lambda: not processes_in(checkout.folder))
    assert processes_in(checkout.folder) == [], where
    assert free_locks(checkout.folder) == sorted(checkout.folder.rglob("*.lock")), where
    left = checkout.path(f"build/toy/{stage}").glob("*")
    assert [path.name for path in left if path.name != "log.txt"] == [], where


def _signal(number: signal.Signals, *, group: bool = False, child: bool = False) -> Act:
    def act(run: subprocess.Popen[str], _c: Checkout, _s: str, pid: int) -> None:
        target = pid if child else run.pid
        (os.killpg if group else os.kill)(target, number)

    return act


def _given(checkout: Checkout, stage: str) -> Path:
    """Find a file that a running stage was given, or that its user's code has read."""
    (work,) = checkout.path("build/toy/.work").glob(f"{stage}-*")
    spec = json.loads((work / "spec.json").read_text())
    for relative in spec["inputs"].values():
        path: Path = (work / relative).resolve()
        if path.parent == work:  # the warnings, which are made for it
            continue
        return path if path.is_file() else path / "content.json"
    return checkout.path(
        "pipelines/toy/data.py" if stage == "samples" else "pipelines/toy/model.py"
    )


def _edit_and_put_back(_r: subprocess.Popen[str], c: Checkout, stage: str, _p: int) -> None:
    path = _given(c, stage)
    content = path.read_bytes()
    path.write_bytes(content + b" ")
    path.write_bytes(content)


def _swap_and_put_back(_r: subprocess.Popen[str], c: Checkout, stage: str, _p: int) -> None:
    path = _given(c, stage)
    aside, other = path.with_name("aside"), path.with_name("other")
    other.write_text("another one")
    path.rename(aside)
    other.rename(path)
    path.unlink()
    aside.rename(path)


def _make_read_only(_r: subprocess.Popen[str], c: Checkout, _s: str, _p: int) -> None:
    make_read_only(c.path(".ascendflow"))


def _interrupted(name: str) -> str:
    return f"interrupted by {name}; what was built is kept"


FAULTS: tuple[Fault, ...] = (
    Fault("kill-9", -signal.SIGKILL, "", act=_signal(signal.SIGKILL)),
    Fault("sigterm", 130, _interrupted("SIGTERM"), act=_signal(signal.SIGTERM)),
    Fault("ctrl-c", 130, _interrupted("SIGINT"), act=_signal(signal.SIGINT, group=True)),
    Fault(
        "terminal-closed",
        130,
        _interrupted("SIGHUP"),
        act=_signal(signal.SIGHUP, group=True),
        stages=SOME,
    ),
    Fault(
        "kill-9-of-the-child",
        2,
        "{stage}:toy: its child process was killed by SIGKILL",
        act=_signal(signal.SIGKILL, child=True),
    ),
    Fault(
        "sigterm-of-the-child",
        2,
        "{stage}:toy: its child process was killed by SIGTERM",
        act=_signal(signal.SIGTERM, child=True),
        stages=SOME,
    ),
    Fault(
        "crash",
        2,
        "{stage}:toy: its child process was killed by SIGSEGV",
        "crashes",
        stages=SOME,
    ),
    Fault("hang", 2, "limits.timeout_s is 2", "hangs", stages=SOME, limits="timeout_s: 2"),
    Fault(
        "eats-memory",
        2,
        "limits.memory_gb is 0.3",
        "eats-memory",
        stages=SOME,
        limits="memory_gb: 0.3",
    ),
    Fault(
        "half-outputs",
        2,
        "{stage}:toy: ended without making",
        "makes-half",
        stages=("convert",),  # of a stage with one output it would be all
    ),
    Fault(
        "input-edited-and-put-back",
        2,
        "while the stage ran, so nothing was recorded",
        "waits-at-its-end",
        _edit_and_put_back,
        ("samples", "golden", "convert"),
        goes_on=True,
    ),
    Fault(
        "input-swapped-and-put-back",
        2,
        "while the stage ran, so nothing was recorded",
        "waits-at-its-end",
        _swap_and_put_back,
        SOME,
        goes_on=True,
    ),
    Fault("disk-full", 2, "disk is full", "fills-build", stages=SOME, disk="build"),
    Fault(
        "disk-full-for-the-store",
        2,
        "No space left on device",
        "fills-store",
        stages=SOME,
        disk=".ascendflow",
    ),
    Fault(
        "store-read-only",
        2,
        "Read-only file system",
        "waits-at-its-end",
        _make_read_only,
        SOME,
        goes_on=True,
        disk=".ascendflow",
    ),
)
"""In no order that matters."""
