"""A run that is told to end leaves nothing on its way into the store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ascendflow.cache import copies
from ascendflow.cache.store import Store

ROOT = Path(__file__).resolve().parents[3]

ADDS = """
import os, signal, sys, threading, time
from multiprocessing import get_context
from pathlib import Path
from ascendflow.cache import files
from ascendflow.cache.digest import digest_file
from ascendflow.cache.store import Store
from ascendflow.tasks import signals

source, root, how = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
digest = digest_file(source)
write = files._write

def slowly(target, chunk):
    write(target, chunk)
    time.sleep(600)

def add():
    files._write = slowly
    store = Store(root)
    files_of = {"": {"digest": digest, "size": source.stat().st_size}}
    with store.copying(source) as under_way:
        store.add(source, files_of, under_way)

signals.install()
if how == "thread":
    threading.Thread(target=add, daemon=True).start()
else:
    get_context("fork").Process(target=add).start()
while not any(each.stat().st_size for each in root.glob("incoming/*")):
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.parametrize("size", [10, copies.LARGE], ids=["small", "large"])
@pytest.mark.parametrize("how", ["thread", "process"])
def test_ended_worker_leaves_no_part_of_a_blob(tmp_path: Path, how: str, size: int) -> None:
    source, root = tmp_path / "made", tmp_path / "store"
    source.write_bytes(b"x" * size)
    ended = subprocess.run(
        [sys.executable, "-c", ADDS, str(source), str(root), how],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (
        130,
        "interrupted by SIGTERM; what was built is kept\n",
    )
    assert os.listdir(root / "incoming") == []


def test_copies_whose_start_is_interrupted_are_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupt may come before the thread has got its number, or any turn."""
    begun: list[threading.Thread] = []
    source, store = tmp_path / "made", Store(tmp_path / "store")
    source.write_bytes(b"x" * copies.LARGE)

    def interrupted(thread: threading.Thread) -> None:
        begun.append(thread)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    # Where the tests run in the background of a script, it is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), store.copying(source):
            pass
    finally:
        signal.signal(signal.SIGINT, before)
    begun[0].run()

    assert list(tmp_path.glob("store/incoming/*")) == []
