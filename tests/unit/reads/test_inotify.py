"""inotify, with a real kernel."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

from ascendflow.reads.inotify import Inotify

QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")


def test_files_opened_below_a_watched_folder_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x").write_text("x")
    inotify = Inotify([str(tmp_path)], skip=())
    (tmp_path / "a" / "b" / "x").read_text()
    inotify.drain()

    assert inotify.opened.files == {str(tmp_path / "a" / "b" / "x")}
    assert inotify.opened.created == set()
    assert not inotify.opened.overflowed


def test_a_skipped_folder_is_not_watched(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "x").write_text("x")
    inotify = Inotify([str(tmp_path)], skip={str(tmp_path / "build")})
    (tmp_path / "build" / "x").read_text()
    inotify.drain()

    assert inotify.opened.files == set()


def test_a_folder_that_goes_as_it_is_watched_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gone", "there"):
        (tmp_path / name).mkdir()
    (tmp_path / "there" / "x").write_text("x")
    scandir = os.scandir

    def late(folder: str) -> object:
        if folder.endswith("gone"):
            os.rmdir(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", late)
    inotify = Inotify([str(tmp_path)], skip=())
    (tmp_path / "there" / "x").read_text()
    inotify.drain()

    assert inotify.opened.files == {str(tmp_path / "there" / "x")}


def test_a_file_made_while_watching_is_told_apart(tmp_path: Path) -> None:
    inotify = Inotify([str(tmp_path)], skip=())
    (tmp_path / "x").write_text("x")
    inotify.drain()

    assert inotify.opened.created == {str(tmp_path / "x")}


def test_a_queue_that_overflows_is_noticed(tmp_path: Path) -> None:
    files = [tmp_path / "x", tmp_path / "y"]
    for file in files:
        file.write_text("x")
    inotify = Inotify([str(tmp_path)], skip=())
    for _ in range(int(QUEUE.read_text()) // 2 + 1):  # equal neighbours would be merged
        for file in files:
            file.open("rb").close()
    inotify.drain()

    assert inotify.opened.overflowed
