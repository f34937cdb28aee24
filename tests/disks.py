"""Small disks of their own for a checkout's folders; only root may mount them."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE = "2m"


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Let a folder be on a disk of 2 MB; what is on it stays there in the end, too.

    Skips the test where nothing can be mounted.
    """
    folder.mkdir(exist_ok=True)
    done = _mount("-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    with ExitStack() as stack:
        stack.callback(_unmount, folder)
        yield
        kept = folder.with_name("kept")
        shutil.copytree(folder, kept, symlinks=True)
    folder.rmdir()
    kept.rename(folder)


def make_read_only(folder: Path) -> None:
    """Put the same disk over itself, read-only; what is open for writing stays so."""
    for options in (["--bind"], ["-o", "remount,bind,ro"]):
        done = _mount(*options, folder, folder)
        assert done.returncode == 0, done.stderr


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody write to a folder, root included; skips where that cannot be had."""
    done = _mount("--bind", folder, folder)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        make_read_only(folder)
        yield
    finally:
        _unmount(folder)


def free(folder: Path) -> None:
    """Make a disk writable again, and take away what filled it."""
    if _is_read_only(folder):
        subprocess.run(["umount", folder], check=True)
    (folder / "filler").unlink(missing_ok=True)


def _is_read_only(folder: Path) -> bool:
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        over = [line.split()[3] for line in mounts if line.split()[1] == str(folder)]
    return "ro" in over[-1].split(",")


def _mount(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["mount", *arguments], capture_output=True, text=True, check=False
    )


def _unmount(folder: Path) -> None:
    command = ["umount", "--lazy", str(folder)]
    while subprocess.run(command, capture_output=True, check=False).returncode == 0:
        pass  # one mount lies over another
