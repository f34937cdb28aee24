"""Tools to measure against, each in a virtual environment of its own.

`peers/NAME.txt` pins what is installed; PyPI gives it, or whatever pip is configured with.
The environments are kept in `.venv-peers/`, a folder for each set of pins.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.row import Row

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "benchmarks/peers"
KEPT = ROOT / ".venv-peers"
PATIENCE_S = 900


class PeerError(Exception):
    """A peer is not there; its text is one line for the table."""


def peer(name: str) -> Path:
    """Return the folder of a peer's commands and its python, installed on first use.

    Raises:
        PeerError: it cannot be installed; what it should be compared with is then not
            measured (`not_measured`).
    """
    pins = PINS / f"{name}.txt"
    digest = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    home = KEPT / f"{name}-{digest[:12]}"
    complete = home / "complete"
    if not complete.is_file():
        print(f"benchmarks: installing {name} into {home}, once", file=sys.stderr)
        shutil.rmtree(home, ignore_errors=True)
        _run(name, [sys.executable, "-I", "-m", "venv", str(home)])
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
        pip = [str(home / "bin/python"), "-I", "-m", "pip", "install", *quiet]
        _run(name, [*pip, "-r", str(pins)])
        complete.touch()  # last, so an interrupted install is redone
    return home / "bin"


def not_measured(claim: str, limit: float, unit: str, why: PeerError) -> Row:
    """Return the row of a claim whose peer is missing; it does not hold."""
    return Row(claim, float("nan"), limit, unit, f"not measured: {why}")


def _run(name: str, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerError(f"{name} cannot be installed: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise PeerError(f"{name} cannot be installed: {' '.join(said)}")
