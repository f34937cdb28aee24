"""The machine that is looked at: its files, its environment, and its commands.

Everything that a check learns comes through here, so a test gives it a folder as a machine.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TIMEOUT_S = 30.0
LARGEST = 1 << 20
"""Bytes that are read of a file, or of what a command prints."""

SYSTEM_PATH = (
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
)


@dataclass(frozen=True)
class Ran:
    """How a command ended.

    Attributes:
        output: what it printed, standard error too.
        problem: why it did not end with 0, or None.
    """

    output: str
    problem: str | None = None


@dataclass(frozen=True)
class Machine:
    """A machine.

    Attributes:
        environment: of whoever asks.
        arch: x86_64 or aarch64, as `uname -m` says it.
        folder: where the command was called, absolute.
        temporary: the folder for temporary files, absolute.
        python: of ascendflow itself.
        prefix: of ascendflow's Python.
        packages: distribution -> version of what ascendflow needs; None: not installed.
        run: runs a program: argv, and all of its environment; never through a shell.
        free_bytes: how much may be written to a folder, or None.
        root: the folder that is taken for "/".
        system: as `sys.platform` has it.
    """

    environment: Mapping[str, str]
    arch: str
    folder: str
    temporary: str
    python: tuple[int, ...]
    prefix: str
    packages: Mapping[str, str | None]
    run: Callable[[Sequence[str], Mapping[str, str]], Ran]
    free_bytes: Callable[[Path], int | None]
    root: Path = Path("/")
    system: str = "linux"

    def at(self, path: str) -> Path:
        """Return where an absolute path of this machine really lies."""
        return self.root / path.lstrip("/")

    def absolute(self, path: str) -> str:
        """Spell a path that was given on the command line from the root."""
        return os.path.normpath(os.path.join(self.folder, os.path.expanduser(path)))

    def is_file(self, path: str) -> bool:
        """Whether there is a regular file."""
        return os.path.isfile(self.at(path))

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder."""
        return os.path.isdir(self.at(path))

    def is_program(self, path: str) -> bool:
        """Whether there is a file that may be executed."""
        return self.is_file(path) and os.access(self.at(path), os.X_OK)

    def names(self, folder: str) -> list[str]:
        """List a folder; nothing where that cannot be done."""
        try:
            return sorted(os.listdir(self.at(folder)))
        except OSError:
            return []

    def read(self, path: str) -> str | None:
        """Return the text of a regular file, of a huge one its beginning; or None."""
        try:
            # A pipe by that name would block.
            descriptor = os.open(self.at(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return None
                return file.read(LARGEST).decode(errors="replace")
        except OSError:
            return None

    def entries(self, path: str) -> dict[str, str]:
        """Read lines of `key=value`; none where the file cannot be read."""
        pairs = (line.partition("=") for line in (self.read(path) or "").splitlines())
        return {key.strip(): value.strip() for key, equals, value in pairs if equals}

    def program(self, name: str, folders: Sequence[str]) -> str | None:
        """Find a program in the first of these folders that has it."""
        places = (f"{folder}/{name}" for folder in folders)
        return next((place for place in places if self.is_program(place)), None)

    def path(self) -> list[str]:
        """Return the folders of PATH; those that are relative are left out."""
        folders = self.environment.get("PATH", "").split(":")
        return [each.rstrip("/") for each in folders if each.startswith("/")]

    def ask(self, argv: Sequence[str], **variables: str) -> Ran:
        """Run a program of this machine, by its absolute path, in a clean environment.

        Args:
            argv: program and arguments.
            variables: more of its environment.
        """
        home = self.environment.get("HOME", "/")
        clean = {"PATH": ":".join(SYSTEM_PATH), "HOME": home, "LC_ALL": "C.UTF-8"}
        return self.run([str(self.at(argv[0])), *argv[1:]], clean | variables)


def this_machine(packages: Mapping[str, str | None]) -> Machine:
    """Return the machine that this runs on."""
    return Machine(
        environment=dict(os.environ),
        arch=os.uname().machine,
        folder=os.getcwd(),
        temporary=_temporary(),
        python=sys.version_info[:3],
        prefix=sys.prefix,
        packages=packages,
        run=run,
        free_bytes=free_bytes,
        system=sys.platform,
    )


def run(
    argv: Sequence[str], environment: Mapping[str, str], timeout_s: float = TIMEOUT_S
) -> Ran:
    """Run a program in an empty folder, with an end to it and all that it starts."""
    try:
        with tempfile.TemporaryDirectory(prefix="ascendflow-doctor-") as folder:
            return _run_in(Path(folder), argv, environment, timeout_s)
    except AscendflowError as error:
        return Ran("", error.message)
    except OSError as error:
        return Ran("", f"cannot be run: {error.strerror or error}")


def _run_in(
    folder: Path, argv: Sequence[str], environment: Mapping[str, str], timeout_s: float
) -> Ran:
    from ascendflow.process import Limits, run_child

    log = folder / "output"
    status = run_child(
        argv,
        cwd=folder,
        environment=environment,
        log=log,
        limits=Limits(timeout_s=timeout_s),
    )
    with log.open("rb") as file:
        output = file.read(LARGEST).decode(errors="replace")
    if status.reason == "timeout":
        return Ran(output, f"did not end within {timeout_s:g} s")
    return Ran(output, status.explanation)


def _temporary() -> str:
    """Return the folder for temporary files, be it full or not there at all."""
    try:
        return tempfile.gettempdir()
    except OSError:
        return os.path.abspath(os.environ.get("TMPDIR", "/var/tmp"))  # noqa: S108 - told


def free_bytes(folder: Path) -> int | None:
    """Return how much may be written to a folder, or None where that cannot be told."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
