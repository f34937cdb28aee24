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

TIMEOUT_S = 120.0
"""For one stage of one file; a tenth of a second is usual."""


@dataclass(frozen=True)
class Outcome:
    """What became of one file.

    Attributes:
        number: makes the file again: `python -m tests.fuzz KIND NUMBER`.
        how: "passed", "refused", "bug", "crashed" or "hung".
        stage: where it ended.
        said: the message; for a crash, how the child ended.
        exit_code: what doit would exit with.
        escaped: what was written, or read, where nothing may be.
    """

    number: int
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


def outcomes(kind: str, numbers: Iterable[int], scratch: Path) -> Iterator[Outcome]:
    """Yield what becomes of each file, in order.

    Args:
        kind: "onnx" or "npz".
        numbers: the files, by what they are made from.
        scratch: an empty folder; nothing outside of it may be written.
    """
    child = None
    try:
        for number in numbers:
            child = child or _Child(scratch / "log.txt")
            outcome = child.take(kind, number, scratch / "files" / f"{kind}-{number}")
            yield outcome
            if outcome.how in ("crashed", "hung"):
                child.end()
                child = None
                shutil.rmtree(scratch / "files")
    finally:
        if child is not None:
            child.end()


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

    def take(self, kind: str, number: int, folder: Path) -> Outcome:
        task = {"kind": kind, "number": number, "folder": str(folder)}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task).encode() + b"\n")
        self._process.stdin.flush()
        stage = ""
        while True:
            answer = self._answer()
            if answer is None:
                return Outcome(number, "hung", stage, f"for {TIMEOUT_S} s")
            if not answer:
                code = self._process.wait()
                return Outcome(number, "crashed", stage, f"exit status {code}")
            if "enters" not in answer:
                escaped = tuple(answer.pop("escaped"))
                return Outcome(number, escaped=escaped, **answer)
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
