from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from ascendflow.cache import index_file
from ascendflow.cache.digest import digest_bytes
from ascendflow.cache.index import LARGE, Index
from ascendflow.errors import AscendflowError

MS = 1_000_000
SECOND = 1000 * MS


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "state" / "index")


def reopened(tmp_path: Path) -> Index:
    return Index(tmp_path / "state" / "index")


class Clock:
    """A clock that stands still but for the sleeps it is asked for."""

    def __init__(self, now_ns: int) -> None:
        self.now_ns = now_ns
        self.slept: list[float] = []

    def __call__(self) -> int:
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_ns += round(seconds * SECOND)


def test_each_content_is_hashed_once_across_runs(tmp_path: Path, index: Index) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    first = index.digest(path)
    later = reopened(tmp_path)

    assert first == later.digest(path) == digest_bytes(b"abc")
    assert index.hashed_files == 1
    assert later.hashed_files == 0


def test_many_files_are_noted_in_one_go_and_hashed_once(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {str(tmp_path / "small"): b"abc", str(tmp_path / "large"): b"d" * LARGE}
    contents |= {str(tmp_path / "other"): b"e"}
    for path, content in contents.items():
        Path(path).write_bytes(content)
    appended = []
    append = index_file.append

    def counting(path: str, entries: index_file.Entries) -> None:
        appended.append(len(entries))
        append(path, entries)

    monkeypatch.setattr(index_file, "append", counting)
    wanted = {path: digest_bytes(content) for path, content in contents.items()}

    assert index.digests(contents) == index.digests(contents) == wanted
    assert index.hashed_files == len(contents)
    assert appended == [1, 2]  # the large one at once
    later = reopened(tmp_path)
    assert later.digests(contents) == wanted
    assert later.hashed_files == 0


def test_of_many_files_one_that_is_gone_is_an_error(tmp_path: Path, index: Index) -> None:
    (tmp_path / "there").write_bytes(b"abc")

    with pytest.raises(FileNotFoundError):
        index.digests([str(tmp_path / "there"), str(tmp_path / "gone")])
    with pytest.raises(OSError, match="not a regular file"):
        index.digests([str(tmp_path)])


def test_a_changed_file_is_hashed_again_though_size_and_mtime_are_put_back(
    tmp_path: Path, index: Index
) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    index.digest(path)
    stat = path.stat()
    path.write_bytes(b"abd")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert index.digest(path) == digest_bytes(b"abd")


def test_a_file_replaced_by_another_of_equal_size_and_times_is_hashed_again(
    tmp_path: Path, index: Index
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (0, 0))
        index.digest(tmp_path / name)
    os.replace(tmp_path / "b", tmp_path / "a")

    assert index.digest(tmp_path / "a") == digest_bytes(b"b")


def test_a_touched_file_is_hashed_once_more_and_then_known(
    tmp_path: Path, index: Index
) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    index.digest(path)
    os.utime(path, (1, 1))
    index.digest(path)
    later = reopened(tmp_path)
    later.digest(path)

    assert (index.hashed_files, later.hashed_files) == (2, 0)


def test_a_file_changed_within_the_tick_is_hashed_only_after_it(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    clock = Clock(path.stat().st_ctime_ns + 1 * MS)
    index = Index(tmp_path / "index", clock=clock, sleep=clock.sleep)
    index.digest(path)

    assert len(clock.slept) == 1
    assert 0 < clock.slept[0] < 0.05
    assert Index(tmp_path / "index").digest(path) == digest_bytes(b"abc")


def test_a_file_changed_before_the_tick_is_hashed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    clock = Clock(path.stat().st_ctime_ns + SECOND)
    index = Index(tmp_path / "index", clock=clock, sleep=clock.sleep)
    index.digest(path)
    later = Index(tmp_path / "index")
    later.digest(path)

    assert clock.slept == []
    assert later.hashed_files == 0


def test_a_file_whose_tick_cannot_be_waited_out_is_hashed_and_not_remembered(
    tmp_path: Path,
) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    clock = Clock(path.stat().st_ctime_ns)
    index = Index(tmp_path / "index", clock=clock, sleep=lambda _: None)  # never gets there
    index.digest(path)
    index.digest(path)

    assert index.hashed_files == 2


def test_a_clock_that_was_set_back_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    clock = Clock(path.stat().st_ctime_ns - 3600 * SECOND)
    index = Index(tmp_path / "index", clock=clock, sleep=clock.sleep)
    index.digest(path)
    index.digest(path)
    time.sleep(0.05)  # two real ticks
    path.write_bytes(b"abd")

    assert (index.hashed_files, clock.slept) == (1, [])
    assert index.digest(path) == digest_bytes(b"abd")


def test_a_file_changed_while_it_is_hashed_is_not_remembered(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hashlib

    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    real = hashlib.sha256

    def edited_meanwhile() -> object:
        path.write_bytes(b"abcd")
        return real()

    with monkeypatch.context() as patch:
        patch.setattr(hashlib, "sha256", edited_meanwhile)
        index.digest(path)

    assert index.digest(path) == digest_bytes(b"abcd")


def test_a_remembered_file_is_not_read(tmp_path: Path, index: Index) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    index.remember({str(path): digest_bytes(b"abc")})

    assert index.digest(path) == digest_bytes(b"abc")
    assert index.hashed_files == 0


def test_a_remembered_file_that_is_edited_at_once_is_noticed(
    tmp_path: Path, index: Index
) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    stat = path.stat()
    index.remember({str(path): digest_bytes(b"abc")})
    path.write_bytes(b"abd")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert index.digest(path) == digest_bytes(b"abd")


def test_many_remembered_files_wait_for_one_tick_only(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(20)]
    for path in paths:
        path.write_bytes(b"")
    clock = Clock(max(path.stat().st_ctime_ns for path in paths))
    index = Index(tmp_path / "index", clock=clock, sleep=clock.sleep)
    index.remember({str(path): digest_bytes(b"") for path in paths})

    assert sum(clock.slept) < 0.05


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[: len(data) // 2], id="cut-short"),
        pytest.param(lambda data: b"\0\xff\n" + data[3:], id="garbage"),
        pytest.param(lambda data: data.replace(b"sha256:", b"sha256:0"), id="digest"),
        pytest.param(lambda data: data.replace(b"\tsha256", b" sha256"), id="field"),
        pytest.param(lambda _: b"", id="empty"),
    ],
)
def test_a_damaged_index_is_ignored(tmp_path: Path, index: Index, damage: object) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    index.digest(path)
    file = tmp_path / "state" / "index"
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    later = reopened(tmp_path)

    assert later.digest(path) == digest_bytes(b"abc")
    assert later.hashed_files == 1


def test_an_entry_after_one_that_was_cut_short_costs_one_hashing_only(
    tmp_path: Path, index: Index
) -> None:
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_text(path.name)
    index.digest(paths[0])
    file = tmp_path / "state" / "index"
    file.write_bytes(file.read_bytes() + file.read_bytes()[:20])
    second = reopened(tmp_path)
    second.digest(paths[1])  # ends up behind the torn line
    second.digest(paths[2])
    later = reopened(tmp_path)

    assert [later.digest(path) for path in paths] == [
        digest_bytes(n) for n in (b"a", b"b", b"c")
    ]
    assert later.hashed_files <= 2


def test_an_index_that_cannot_be_written_only_forgets(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    index = Index(tmp_path / "file" / "index")

    assert index.digest(tmp_path / "file") == digest_bytes(b"abc")


def test_outdated_lines_are_dropped_and_living_ones_kept(tmp_path: Path) -> None:
    path, file = tmp_path / "weights", tmp_path / "index"
    path.write_bytes(b"abc")
    Index(file).digest(path)
    line = file.read_bytes()
    gone = line.replace(b"weights", b"removed")
    file.write_bytes((gone + line) * index_file.SLACK)
    later = Index(file)
    later.digest(path)

    assert file.read_bytes() == line
    assert later.hashed_files == 0


def test_threads_that_ask_at_once_hash_once(tmp_path: Path, index: Index) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(1 << 20))
    threads = [threading.Thread(target=index.digest, args=[path]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert index.hashed_files == 1


WRITER = """
import sys
from ascendflow.cache.index import Index
index = Index(sys.argv[1])
for name in sys.argv[2:]:
    index.digest(name)
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number:03d}" for number in range(120)]
    for path in paths:
        path.write_text(path.name)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path / "index", *paths[part::4]]
        )
        for part in range(4)
    ]
    assert [child.wait() for child in children] == [0, 0, 0, 0]
    index = Index(tmp_path / "index")

    assert all(index.digest(path) == digest_bytes(path.name.encode()) for path in paths)
    assert index.hashed_files == 0


def test_what_another_process_hashed_meanwhile_is_not_hashed_again(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_text(path.name)
    ours, theirs = Index(tmp_path / "index"), Index(tmp_path / "index")
    ours.digest(paths[0])
    theirs.digest(paths[1])
    ours.digest(paths[2])

    assert ours.digest(paths[1]) == digest_bytes(b"b")
    assert (ours.hashed_files, theirs.hashed_files) == (2, 1)


def test_an_index_that_another_process_wrote_anew_is_read_whole(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c", "d")]
    for path in paths:
        path.write_text(path.name)
    ours = Index(tmp_path / "index")
    for path in paths[:3]:
        ours.digest(path)
    (tmp_path / "index").unlink()
    Index(tmp_path / "index").digest(paths[3])

    assert ours.digest(paths[3]) == digest_bytes(b"d")
    assert ours.hashed_files == 3


def test_a_folder_is_refused_where_a_file_is_wanted(tmp_path: Path, index: Index) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        index.digest(tmp_path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, index: Index) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match="not a regular file"):
        index.digest(tmp_path / "pipe")


def test_a_link_that_points_elsewhere_now_gives_the_new_content(
    tmp_path: Path, index: Index
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    link = tmp_path / "link"
    link.symlink_to("a")
    first = index.digest(link)
    link.unlink()
    link.symlink_to("b")

    assert (first, index.digest(link)) == (digest_bytes(b"a"), digest_bytes(b"b"))


def test_a_tree_lists_all_files_with_digest_and_size(tmp_path: Path, index: Index) -> None:
    folder = tmp_path / "samples"
    (folder / "feeds").mkdir(parents=True)
    (folder / "labels").mkdir()
    (folder / "feeds" / "0.npy").write_bytes(b"abc")
    (folder / b"\xff".decode("utf-8", "surrogateescape")).write_bytes(b"")
    empty = {"digest": digest_bytes(b""), "size": 0}

    assert index.tree(folder) == {
        "feeds/0.npy": {"digest": digest_bytes(b"abc"), "size": 3},
        "labels/": empty,
        "\udcff": empty,
    }


def test_the_tree_of_a_file_has_one_empty_path(tmp_path: Path, index: Index) -> None:
    (tmp_path / "check.json").write_bytes(b"abc")

    assert index.tree(tmp_path / "check.json") == {
        "": {"digest": digest_bytes(b"abc"), "size": 3}
    }


@pytest.mark.parametrize("where", ["model", "model/link"])
def test_dangling_symlink_output_is_an_error(
    tmp_path: Path, index: Index, where: str
) -> None:
    if where != "model":
        (tmp_path / "model").mkdir()
    (tmp_path / where).symlink_to("nowhere")

    with pytest.raises(AscendflowError, match=f"{where} is a symbolic link"):
        index.tree(tmp_path / "model")


def test_an_output_that_is_a_link_to_a_file_is_an_error(
    tmp_path: Path, index: Index
) -> None:
    (tmp_path / "real").write_bytes(b"abc")
    (tmp_path / "model").symlink_to("real")

    with pytest.raises(AscendflowError, match="model is a symbolic link"):
        index.tree(tmp_path / "model")


def test_a_missing_output_is_an_error(tmp_path: Path, index: Index) -> None:
    with pytest.raises(FileNotFoundError):
        index.tree(tmp_path / "model")


def test_a_forked_process_waits_for_no_thread_that_it_does_not_have(tmp_path: Path) -> None:
    """Where a thread hashes a file as doit forks, its worker hashes that file itself."""
    path = tmp_path / "large"
    path.write_bytes(b"x")
    index = Index(tmp_path / "index")
    hashing, go_on = threading.Event(), threading.Event()

    def wait(_index: Index, _size: int) -> None:
        hashing.set()
        assert go_on.wait(30)

    slow = Index(tmp_path / "index", on_unknown=wait)
    thread = threading.Thread(target=slow.digest, args=(path,))
    thread.start()
    assert hashing.wait(30)
    slow._on_unknown = lambda _index, _size: None  # in the child nobody lets it go on
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it is what is tested
        child = os.fork()
    if child == 0:
        os._exit(0 if slow.digest(path) == index.digest(path) else 1)
    _, status = os.waitpid(child, 0)
    go_on.set()
    thread.join()

    assert os.waitstatus_to_exitcode(status) == 0


def test_moved_file_is_known_by_its_new_name(tmp_path: Path, index: Index) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    for name in ("kept", "written"):
        (old / name).write_bytes(b"abc")
        index.digest(old / name)
    old.rename(new)
    (new / "written").write_bytes(b"xyz")
    index.carry({str(new / name): str(old / name) for name in ("kept", "written", "none")})

    later = reopened(tmp_path)
    assert later.digest(new / "kept") == digest_bytes(b"abc")
    assert later.hashed_files == 0
    assert later.digest(new / "written") == digest_bytes(b"xyz")
