"""A large file with the bytes of a known one has its digest; anything else is hashed."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from ascendflow.cache import twins
from ascendflow.cache.digest import digest_file
from ascendflow.cache.files import CHUNK
from ascendflow.cache.index import LARGE, Index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZE = 2 * CHUNK + 10 * twins.PAGE
UNLOOKED = CHUNK + 20 * twins.PAGE
"""Of a byte that no look is taken at."""


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "index.tsv")


@pytest.fixture
def first(tmp_path: Path, index: Index) -> Path:
    """A large file that the index has hashed."""
    path = tmp_path / "first"
    path.write_bytes(os.urandom(SIZE))
    index.digest(path)
    assert index.hashed_files == 1
    return path


def copied(first: Path, at: int | None = None) -> Path:
    """Copy a file; `at` is the place of a byte that is changed."""
    content = bytearray(first.read_bytes())
    if at is not None:
        content[at] ^= 1
    path = first.with_name("second")
    path.write_bytes(content)
    return path


def flip(path: Path, at: int) -> None:
    """Change a byte, and put the file's times back."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def become_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def look_of(path: Path) -> int:
    with path.open("rb") as file:
        return twins.look(file.fileno())


def test_equal_bytes_are_hashed_once(first: Path, index: Index) -> None:
    second = copied(first)

    assert index.digest(second) == digest_file(second)
    assert index.hashed_files == 1


def test_it_is_known_as_any_other_is(first: Path, index: Index, tmp_path: Path) -> None:
    index.digest(second := copied(first))
    later = Index(tmp_path / "index.tsv")

    assert later.digest(second) == digest_file(first)
    assert later.hashed_files == 0


@pytest.mark.parametrize("at", [0, CHUNK - 1, CHUNK, UNLOOKED, 2 * CHUNK + 10, SIZE - 1])
def test_one_other_byte_is_another_content(first: Path, index: Index, at: int) -> None:
    second = copied(first, at)

    assert index.digest(second) == digest_file(second) != digest_file(first)
    assert index.hashed_files == 2


def test_a_look_is_taken_at_some_bytes_only(first: Path) -> None:
    assert look_of(first) == look_of(copied(first, UNLOOKED))
    assert look_of(first) != look_of(copied(first, 0))
    assert look_of(first) != look_of(copied(first, SIZE - 1))


def test_one_more_byte_is_another_look(tmp_path: Path) -> None:
    for size in (SIZE, SIZE + 1):
        (tmp_path / str(size)).write_bytes(bytes(size))

    assert look_of(tmp_path / str(SIZE)) != look_of(tmp_path / str(SIZE + 1))


@pytest.mark.parametrize("fill", [os.urandom, bytes], ids=["random", "zeros"])
@pytest.mark.parametrize("of", [CHUNK, 2 * CHUNK, 2 * CHUNK + 100])
@pytest.mark.parametrize("more", [-CHUNK // 2, -1, 1, CHUNK])
def test_a_look_alone_decides_nothing(
    tmp_path: Path,
    index: Index,
    monkeypatch: pytest.MonkeyPatch,
    *,
    fill: Callable[[int], bytes],
    of: int,
    more: int,
) -> None:
    monkeypatch.setattr("ascendflow.cache.index.look", lambda _file: 0)
    content = fill(3 * CHUNK + 100)
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(content[:of])
    second.write_bytes(content[: of + more])
    index.digest(first)

    assert index.digest(second) == digest_file(second)
    assert index.hashed_files == 2


def test_one_that_changed_since_is_compared_with_no_more(first: Path, index: Index) -> None:
    time.sleep(0.05)  # some ticks of the file system's clock
    flip(first, UNLOOKED)
    second = copied(first)

    assert index.digest(second) == digest_file(second)
    assert index.hashed_files == 2


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.unlink(), id="removed"),
        pytest.param(lambda path: path.chmod(0o600), id="touched"),
        pytest.param(lambda path: path.write_bytes(b"short"), id="cut"),
        pytest.param(become_a_pipe, id="a pipe"),
    ],
)
def test_one_that_is_not_as_it_was_is_no_measure(
    first: Path, index: Index, change: Callable[[Path], object]
) -> None:
    second = copied(first)
    time.sleep(0.05)
    change(first)

    assert index.digest(second) == digest_file(second)
    assert index.hashed_files == 2


def test_one_that_changes_meanwhile_proves_nothing(
    first: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = copied(first, UNLOOKED)
    time.sleep(0.05)

    def slowly(file: int, other: int) -> bool:
        flip(first, UNLOOKED)
        return really(file, other)

    really = twins._are_equal
    monkeypatch.setattr(twins, "_are_equal", slowly)

    assert index.digest(second) == digest_file(second)
    assert index.hashed_files == 2


def test_one_that_moved_with_its_folder_is_still_known(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.tsv")
    (tmp_path / "out").mkdir()
    old, new = tmp_path / "out" / "first", tmp_path / "kept" / "first"
    old.write_bytes(os.urandom(SIZE))
    index.digest(old)
    (tmp_path / "out").rename(tmp_path / "kept")
    index.carry({str(new): str(old)})

    assert index.digest(copied(new)) == digest_file(new)
    assert index.hashed_files == 1


def test_one_that_was_written_just_now_is_no_measure(tmp_path: Path) -> None:
    path = tmp_path / "first"
    path.write_bytes(os.urandom(SIZE))
    now = path.stat().st_ctime_ns
    index = Index(tmp_path / "index.tsv", clock=lambda: now, sleep=lambda _seconds: None)
    index.digest(path)

    index.digest(copied(path))
    assert index.hashed_files == 2


def test_small_files_are_hashed(tmp_path: Path, index: Index) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(bytes(LARGE - 1))
        index.digest(tmp_path / name)

    assert index.hashed_files == 2


def test_what_a_comparison_leaves_behind_does_no_harm(tmp_path: Path) -> None:
    short = os.urandom(LARGE)
    contents = [os.urandom(CHUNK), os.urandom(CHUNK), short, short]
    for number, content in enumerate(contents):
        (tmp_path / str(number)).write_bytes(content)
    with ExitStack() as stack:
        files = [
            stack.enter_context((tmp_path / str(number)).open("rb")).fileno()
            for number in range(len(contents))
        ]

        assert not twins._are_equal(files[0], files[1])
        assert twins._are_equal(files[2], files[3])
