"""The worker is there for its caller, and ends with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.worker_file import write_worker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SILENCE_S = 2.0
BUSY = "import time\ndef get_soc_name():\n    time.sleep(600)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".ascendflow" / "0f"
    made.mkdir(parents=True)
    write_worker(made)
    job = {"silence_s": SILENCE_S, "soc_version": "Ascend310P3", "samples": []}
    (made / "job.json").write_text(json.dumps(job))
    (tmp_path / "acl.py").write_text(BUSY)
    return made


@pytest.fixture
def worker(folder: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-u", str(folder / "worker.pyz"), str(folder), "held"]
    around = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(argv, stdin=subprocess.PIPE, env=around) as process:
        while not (folder / "answers.jsonl").exists():
            assert process.poll() is None
            time.sleep(0.05)
        yield process
        process.kill()


def test_caller_that_is_gone_is_not_waited_for(
    worker: subprocess.Popen[bytes], folder: Path
) -> None:
    assert worker.stdin is not None
    worker.stdin.close()
    assert worker.wait(10) == 3
    assert not folder.parent.exists()


def test_caller_that_says_nothing_is_gone_too(
    worker: subprocess.Popen[bytes], folder: Path
) -> None:
    """A connection that was cut in between closes nothing for hours."""
    assert worker.stdin is not None
    for _ in range(6):
        worker.stdin.write(b"\n")
        worker.stdin.flush()
        time.sleep(SILENCE_S / 4)
    assert worker.poll() is None
    assert worker.wait(10 * SILENCE_S) == 3
    assert not folder.exists()


def test_folder_that_is_not_a_boards_is_never_taken_away(
    tmp_path: Path, folder: Path
) -> None:
    own = tmp_path / "own"
    folder.rename(own)
    argv = [sys.executable, "-u", str(own / "worker.pyz"), str(own), "held"]
    around = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, env=around, check=False)
    assert done.returncode == 3
    assert (own / "job.json").is_file()
