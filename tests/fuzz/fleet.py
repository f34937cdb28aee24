"""Gives many files to one child, a new one after each crash or hang."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Case = int | dict[str, Any]
"""A file's number, or what it is made from."""
TIMEOUT_S = 120.0
"""For one stage of one file; a tenth of a second is usual."""


@dataclass(frozen=True)
class Outcome:
    """What became of one file.

    Attributes:
        case: makes the file again: `python -m tests.fuzz KIND CASE`.
        how: "passed", "refused", "bug", "crashed" or "hung".
        stage: where it ended.
        said: the message; for a crash, how the child ended.
        exit_code: what doit would exit with.
        escaped: what was written, or read, where nothing may be.
    """

    case: Case
    how: str
    stage: str
    said: str
    exit_code: int = 0
    escaped: tuple[str, ...] = ()

    def why_bad(self, *exit_codes: int) -> str | None:
        """Return why this is neither a pass nor a refusal with one of these exit codes."""
        if self.escaped:
            return f"outside of the folder: {self.escaped}"
        if self.how == "passed" or (self.how == "refused" and self.exit_code in exit_codes):
            return None
        return f"{self.how} {self.exit_code}: {self.said}"


class Fleet:
    """Takes one file after the other, each with the first child that still lives.

    Args:
        scratch: an empty folder; nothing outside of it may be written.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._child: _Child | None = None
        self._taken = 0

    def take(self, kind: str, case: Case) -> Outcome:
        """Say what becomes of one file of a kind that `tests.fuzz.worker` knows."""
        self._child = self._child or _Child(self._scratch / "log.txt")
        self._taken += 1
        folder = self._scratch / "files" / f"{kind}-{self._taken}"
        outcome = self._child.take(kind, case, folder)
        if outcome.how in ("crashed", "hung"):
            self.end()
            shutil.rmtree(self._scratch / "files")
        return outcome

    def end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


def outcomes(kind: str, cases: Iterable[Case], scratch: Path) -> Iterator[Outcome]:
    """Yield what becomes of each file, in order."""
    fleet = Fleet(scratch)
    try:
        for case in cases:
            yield fleet.take(kind, case)
    finally:
        fleet.end()


class _Child:
    def __init__(self, log: Path) -> None:
        (log.parent / "files").mkdir(exist_ok=True)
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        assert self._process.stdout is not None
        self._fd = self._process.stdout.fileno()
        self._pending = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._fd, selectors.EVENT_READ)

    def take(self, kind: str, case: Case, folder: Path) -> Outcome:
        task = {"kind": kind, "case": case, "folder": str(folder)}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task).encode() + b"\n")
        self._process.stdin.flush()
        stage = ""
        while True:
            answer = self._answer()
            if answer is None:
                return Outcome(case, "hung", stage, f"for {TIMEOUT_S} s")
            if not answer:
                code = self._process.wait()
                return Outcome(case, "crashed", stage, f"exit status {code}")
            if "enters" not in answer:
                escaped = tuple(answer.pop("escaped"))
                return Outcome(case, escaped=escaped, **answer)
            stage = answer["enters"]

    def _answer(self) -> dict[str, Any] | None:
        """Return the next line; None after too long, {} where there is none to come."""
        while b"\n" not in self._pending:
            if not self._selector.select(TIMEOUT_S):
                return None
            if not (read := os.read(self._fd, 1 << 16)):
                return {}
            self._pending += read
        line, _, self._pending = self._pending.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        self._selector.close()
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait()
