"""ONNX's own cases for single operators: taken out of a wheel of onnx, never installed.

onnx 1.16.2 is the last release whose wheel holds them: 1,283 folders, each with a model,
its inputs and the outputs that ONNX's reference gives. pip fetches that wheel once, by its
digest, in a process of its own; only the cases are unpacked, into this checkout's `.cache`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

REPOSITORY = Path(__file__).resolve().parent.parent.parent
CACHE = REPOSITORY / ".cache"
REQUIRED = "ASCENDFLOW_NODE_CASES"
"""Set to "required", as CI does, it forbids to go without."""
REQUIREMENT = (
    "onnx==1.16.2 --hash=sha256:"
    "7b98aa9733bd4b781eb931d33b4078ff2837e7d68062460726d6dd011f332bd4"
)
_FOLDER = "onnx/backend/test/data/node/"
_THIS_WHEEL = (  # whatever Python and machine asks: the cases are the same data
    *("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"),
    *("--platform", "manylinux2014_x86_64", "--only-binary", ":all:", "--no-deps"),
)
_PATIENCE_S = 300


class UnavailableError(Exception):
    """The wheel cannot be had, and why."""


def cases_folder(cache: Path = CACHE, requirement: str = REQUIREMENT) -> Path:
    """Return the folder that holds one folder for each case; fetch it where it is not.

    Raises:
        UnavailableError: pip cannot fetch the wheel, or it is not the one.
    """
    release, digest = requirement.split(" --hash=sha256:")
    folder = cache / f"{release.replace('==', '-')}-{digest[:12]}"
    if not folder.is_dir():
        cache.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=cache) as scratch:
            wheel = _downloaded(requirement, Path(scratch))
            unpacked = Path(scratch) / "cases"
            with ZipFile(wheel) as archive:
                members = [n for n in archive.namelist() if n.startswith(_FOLDER)]
                archive.extractall(unpacked, members)
            try:
                unpacked.rename(folder)  # whole, or not there
            except OSError:
                if not folder.is_dir():  # else another process was first
                    raise
    return folder / _FOLDER


def is_required() -> bool:
    """Return whether to go without the cases is a failure."""
    return os.environ.get(REQUIRED) == "required"


def _downloaded(requirement: str, scratch: Path) -> Path:
    listed = scratch / "requirements.txt"
    listed.write_text(f"{requirement}\n")
    command = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "download"]
    command += [*_THIS_WHEEL, "--no-input", "--quiet", "--retries", "1", "--timeout", "20"]
    command += ["--require-hashes", "-r", str(listed), "--dest", str(scratch)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"pip took more than {_PATIENCE_S} s") from error
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise UnavailableError(
            f"pip cannot fetch {requirement.partition(' ')[0]}: {said[-1]}"
        )
    return wheels[0]
