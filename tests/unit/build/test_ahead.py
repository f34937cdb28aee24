from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from ascendflow.build.ahead import Ahead
from ascendflow.build.project import Project
from ascendflow.cache.index import LARGE, Index

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, run: str, stage: str, size: int = LARGE) -> Path:
    path = folder / run / stage / "model" / "model.onnx"
    path.parent.mkdir(parents=True)
    path.write_bytes(f"{run} {stage}".encode().ljust(size))
    return path


def finish() -> None:
    """Wait for the threads that look ahead."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(30)


class Recording(Index):
    """An index that tells in which order it was asked for files."""

    asked: list[str]

    def digest(self, path: object) -> str:
        self.asked.append(str(path))
        return super().digest(str(path))


@pytest.fixture
def index(tmp_path: Path) -> Recording:
    made = Recording(tmp_path / "index")
    made.asked = []
    return made


def test_large_outputs_of_the_runs_are_hashed_from_the_last_one_back(
    tmp_path: Path, index: Recording
) -> None:
    last = [write(tmp_path, "b", stage) for stage in ("convert", "export")]
    first = [write(tmp_path, "a", stage) for stage in ("convert", "export")]
    write(tmp_path, "other", "export")
    write(tmp_path, "a", "infer", LARGE - 1)
    ahead = Ahead(str(tmp_path))
    ahead.expect(lambda: {"a", "b"})

    ahead.begin(index, LARGE)
    finish()

    assert index.asked == [str(path) for path in (*last, *first)]
    assert index.hashed_files == 4


@pytest.mark.parametrize(("size", "runs"), [(LARGE - 1, ["a"]), (LARGE, [])])
def test_a_small_file_or_no_run_begins_nothing(
    tmp_path: Path, index: Recording, size: int, runs: list[str]
) -> None:
    write(tmp_path, "a", "export")
    ahead = Ahead(str(tmp_path))
    ahead.expect(lambda: runs)

    ahead.begin(index, size)
    finish()

    assert index.asked == []


def test_it_begins_once(tmp_path: Path, index: Recording) -> None:
    write(tmp_path, "a", "export")
    ahead = Ahead(str(tmp_path))
    ahead.expect(lambda: ["a"])
    for _ in range(3):
        ahead.begin(index, LARGE)
    finish()

    assert len(index.asked) == 1


def test_a_project_looks_ahead_when_a_large_file_is_not_known_and_hashes_each_once(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    paths = [write(tmp_path / "build", "a", stage) for stage in ("export", "convert")]
    project.ahead.expect(lambda: ["a"])

    digests = {project.index.digest(path) for path in paths}
    finish()

    assert len(digests) == 2
    assert project.index.hashed_files == 2
