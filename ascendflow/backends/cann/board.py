"""Runs an OM on another machine: the same worker, brought there and taken away again."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import socket
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from ascendflow.backends.cann import job
from ascendflow.backends.cann.board_machine import Machine, machine_of, questions
from ascendflow.backends.cann.dumped import dumped_files
from ascendflow.backends.cann.fits_device import hold_to_device
from ascendflow.backends.cann.own_word import own_word
from ascendflow.backends.cann.signature import read_signature
from ascendflow.backends.cann.ssh import LostError, Ssh
from ascendflow.backends.cann.worker import files
from ascendflow.backends.cann.worker_file import WORKER, write_worker
from ascendflow.documents.json_file import read_json, write_json
from ascendflow.errors import AscendflowError, StageError, ToolFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import numpy as np

MAKE = """exec /bin/sh -c 'IFS= read -r f && cd "$HOME" && umask 077 \
&& { mkdir -p -- "$f" 2>/dev/null || mkdir -p -- "$f"; }'"""  # another run may end between
CALL = """exec /bin/sh -c 'IFS= read -r f && IFS= read -r p && IFS= read -r a \
&& cd "$HOME" && "$p" -u "$f/worker.pyz" "$f" "$a"; exit "$?"'"""
CLEAN = """exec /bin/sh -c 'IFS= read -r f && cd "$HOME" \
&& case "$f" in .ascendflow/?*) rm -rf -- "$f";; esac; \
find .ascendflow -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf -- {} + 2>/dev/null; \
rmdir .ascendflow 2>/dev/null; if test -e "$f"; then exit 1; fi'"""
"""All that is ever run there; the same whatever a manifest says. What a run that was killed
left there goes too, a week later."""

NAME = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")
MACHINE = Path("/etc/machine-id")
T = TypeVar("T")
ATTEMPTS = 4
PAUSES_S = (1.0, 5.0, 20.0)
"""Before what broke off is tried again."""


@contextmanager
def ran(
    model: Path,
    feeds: Iterable[Mapping[str, np.ndarray]],
    options: Mapping[str, Any],
) -> Iterator[Path]:
    """Load the OM once on a board, run every sample, and give the folder with what came.

    Args:
        model: the folder with the OM.
        feeds: the samples.
        options: `infer` of the manifest; and `dump`, see `job.write_job`.

    Raises:
        StageError: the OM is not for the board, or a sample not for the OM.
        ToolFailedError: no connection, or the worker failed or died.
    """
    said, own = read_signature(model), own_word(model)
    with TemporaryDirectory(prefix="ascendflow-infer-") as folder:
        work, logs = Path(folder, "work"), Path(folder, "logs")
        for each in (work, logs):
            each.mkdir()
        samples = job.write_feeds(work, feeds, said)
        _lay_out(model, work)
        ssh = Ssh(options["host"], options["ssh_config"], work, logs)
        board = Board(ssh, folder_of(model), options["python"])
        board.make()
        try:
            machine = board.look(options["toolkit"])
            hold_to_device(said, own, machine.there)
            told = {**options, "environment": machine.environment(options["python"])}
            job.write_job(work, own.path.name, said, samples, told)
            board.bring()
            board.run()
        finally:
            board.clean()
        yield work


def folder_of(model: Path) -> str:
    """Name the folder there, of this machine and model: a broken upload is found again."""
    machine = MACHINE.read_text() if MACHINE.is_file() else ""
    origin = f"{machine}\0{socket.gethostname()}\0{os.getuid()}\0{model.resolve()}"
    return f".ascendflow/{hashlib.sha256(origin.encode()).hexdigest()[:32]}"


def _lay_out(model: Path, work: Path) -> None:
    """Put the model and the worker where uploads start."""
    write_worker(work)
    for path in sorted(model.rglob("*")):
        name = path.relative_to(model).as_posix()
        if not NAME.fullmatch(name) or name.startswith("-"):
            raise StageError(f"infer: {name!r} beside the OM cannot go to a board")
        if path.is_dir():
            (work / name).mkdir()
        else:
            (work / name).symlink_to(path.resolve())


class Board:
    """A folder on a board."""

    def __init__(self, ssh: Ssh, folder: str, python: str) -> None:
        self._ssh, self._folder, self._python = ssh, folder, python
        self._here = ssh.folder

    def make(self) -> None:
        """Make the folder, or find it as an earlier run had to leave it."""
        if self._ssh.run(MAKE, [self._folder]).returncode:
            raise ToolFailedError(f"infer: no folder on the board: {self._ssh.said()}")

    def look(self, toolkit: str) -> Machine:
        """Ask which machine it is and which CANN is there."""
        write_json(self._here / files.LOOK, questions(toolkit))
        # What an earlier run had to leave is no answer.
        old = [f"-rm {self._folder}/{name}" for name in (files.SEEN, files.DIGESTS)]
        brought = [f"put {name} {self._folder}/{name}" for name in (WORKER, files.LOOK)]
        self._moved([*old, *brought])
        return machine_of(self._asked("look", files.SEEN), toolkit, self._ssh.logs)

    def bring(self) -> None:
        """Upload what is not there yet; what came in part is gone on with.

        Raises:
            ToolFailedError: it does not arrive whole in a few attempts.
        """
        for _ in range(ATTEMPTS):
            missing = _steadily(lambda: list(self._missing()))
            if not missing:
                return
            with suppress(LostError):  # what is still missing is seen when it is asked for
                self._moved([f"-rm {self._folder}/{files.ANSWERS}", *self._folders()])
                self._moved(missing)
        raise ToolFailedError(
            f"infer: after {ATTEMPTS} attempts the files on the board are not those here",
            hint="see whether its disk is full, or whether something else writes there",
        )

    def run(self) -> None:
        """Do the job there, and fetch what it gives."""

        def beat(elapsed_s: float) -> None:
            print(f"{elapsed_s:.0f} s on the board", flush=True)  # noqa: T201

        values = [self._folder, self._python, "again"]
        status = self._ssh.run(CALL, values, held=True, timeout_s=None, on_heartbeat=beat)
        said = self._ssh.said(1000)
        print(said, flush=True)  # noqa: T201  into the stage's log
        self._fetched([f"-get {self._folder}/{files.ANSWERS} {files.ANSWERS}"])
        answers = job.read_answers(self._here)
        last = "\n".join(said.splitlines()[-5:])
        job.hold_to_end(answers, _ended(status.returncode), last)
        done = [each for each in answers if each["event"] == "sample"]
        names = [
            f"out-{number}-{place}.npy"
            for number, each in enumerate(done)
            for place in range(len(each["outputs"]))
        ]
        self._fetched([f"get {self._folder}/{name} {name}" for name in names])
        sizes = dumped_files(answers, self._here)
        _steadily(lambda: self._moved(list(self._partly(sizes))))

    def _partly(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Yield how to fetch large files; what came in part is gone on with."""
        for name, size in sizes.items():
            path = self._here / name
            came = os.stat(path).st_size if path.exists() else None
            if came != size:
                how = "get" if came is None else "reget"
                yield f"{how} {self._folder}/{name} {name}"

    def clean(self) -> None:
        """Take everything away again; say what is left where that fails."""
        try:
            failed = self._ssh.run(CLEAN, [self._folder]).returncode != 0
        except AscendflowError as error:
            print(error.message, flush=True)  # noqa: T201
            failed = True
        if failed:
            text = f"left on {self._ssh.host}: ~/{self._folder}"
            print(text, flush=True)  # noqa: T201

    def _moved(self, lines: list[str]) -> None:
        if lines and self._ssh.sftp(lines).returncode:
            text = f"infer: sftp to {self._ssh.host}: {self._ssh.said()}"
            raise ToolFailedError(text, hint=f"is its disk full? ssh {self._ssh.host} df ~")

    def _fetched(self, lines: list[str]) -> None:
        _steadily(lambda: self._moved(lines))

    def _asked(self, action: str, answer: str) -> dict[str, Any]:
        status = self._ssh.run(CALL, [self._folder, self._python, action])
        said = self._ssh.said() or status.explanation or "ended well"
        (self._here / answer).unlink(missing_ok=True)
        if not status.returncode:
            self._fetched([f"-get {self._folder}/{answer} {answer}"])
        if not (self._here / answer).is_file():
            raise StageError(
                f"infer.python: {self._python} on {self._ssh.host} gives no answer: {said}",
                hint="name a Python of 3.7 or later that is there, and has numpy and "
                "ais_bench, or acl",
            )
        found: dict[str, Any] = read_json(self._here / answer)
        return found

    def _files(self) -> list[str]:
        asked = (files.LOOK, files.SEEN, files.DIGESTS)
        found = [path for path in self._here.rglob("*") if path.is_file()]
        names = [path.relative_to(self._here).as_posix() for path in found]
        return sorted(name for name in names if name not in asked)

    def _folders(self) -> Iterator[str]:
        for path in sorted(self._here.rglob("*")):
            if path.is_dir():
                name = path.relative_to(self._here).as_posix()
                yield f"-mkdir {self._folder}/{name}"

    def _missing(self) -> Iterator[str]:
        """Yield how to upload each file that is not whole there."""
        there = self._asked("digests", files.DIGESTS)
        for name in self._files():
            size, digest = there.get(name, (0, ""))
            whole = os.stat(self._here / name).st_size
            if size <= whole and digest == _digest(self._here / name, size):
                if size == whole:
                    continue
                yield f"reput {name} {self._folder}/{name}"
            else:
                yield f"put {name} {self._folder}/{name}"


def _steadily(action: Callable[[], T]) -> T:
    """Do what can be done again, a few times, where the connection breaks."""
    for pause_s in PAUSES_S:
        try:
            return action()
        except LostError as error:
            print(f"{error.message}; again in {pause_s:g} s", flush=True)  # noqa: T201
            time.sleep(pause_s)
    return action()


def _ended(status: int) -> str | None:
    """Say how a shell's child ended: beyond 128 it was killed."""
    if status == 0:
        return None
    try:
        return f"was killed by {signal.Signals(status - 128).name}"
    except ValueError:
        return f"exited with status {status}"


def _digest(path: Path, size: int) -> str:
    """Return the digest of a file's first bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (block := file.read(min(size, 1 << 20))):
            digest.update(block)
            size -= len(block)
    return digest.hexdigest()
