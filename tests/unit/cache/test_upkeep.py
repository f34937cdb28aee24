from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cache.digest import digest_bytes
from ascendflow.cache.fingerprint import fingerprint
from ascendflow.cache.index import Index
from ascendflow.cache.record import make_record
from ascendflow.cache.store import Store
from ascendflow.cache.tree import output_of
from ascendflow.cache.upkeep import GRACE_S, _delete

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.documents.record import Record

DAY = 86400.0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def build(store: Store, tmp_path: Path, content: str) -> Record:
    """Store one file and the record that names it."""
    (tmp_path / "made").write_text(content)
    preimage = fingerprint(
        stage="export",
        code=digest_bytes(content.encode()),
        config={},
        inputs={},
        tools={},
        environment={},
        floats=False,
        seed=0,
    )
    reads: Any = {"files": {}, "folders": {}, "missing": [], "distributions": {}}
    files = Index(tmp_path / "index").tree(tmp_path / "made")
    store.add(tmp_path / "made", files)
    outputs = {"nodes.json": output_of(files)}
    return store.put_record(make_record(preimage, reads, outputs, warnings=[], facts={}))


def age(store: Store, days: float) -> None:
    then = time.time() - days * DAY
    for folder, _, names in os.walk(store.root):
        for name in names:
            os.utime(os.path.join(folder, name), (then, then))


def blob_path(store: Store, content: str) -> str:
    return store.blobs.path_of(digest_bytes(content.encode()))


def record_path(store: Store, record: Record) -> str:
    return store.record_path(record["base"], record["key"])


def write(path: str, text: str) -> None:
    if os.path.exists(path):
        os.chmod(path, 0o644)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def test_a_whole_store_has_no_problem(store: Store, tmp_path: Path) -> None:
    build(store, tmp_path, "a")

    assert store.verify() == []
    assert store.verify(repair=True) == []
    assert Store(tmp_path / "nowhere").verify() == []


def test_a_corrupt_blob_is_told_and_stays_without_repair(
    store: Store, tmp_path: Path
) -> None:
    build(store, tmp_path, "a")
    write(blob_path(store, "a"), "b")
    (problem,) = store.verify()

    assert problem.path == blob_path(store, "a")
    assert problem.problem == f"is corrupt: its content now hashes to {digest_bytes(b'b')}"
    assert not problem.is_removed
    assert os.path.exists(problem.path)


def test_repair_removes_a_corrupt_blob_and_the_records_that_name_it_and_nothing_else(
    store: Store, tmp_path: Path
) -> None:
    bad, good = build(store, tmp_path, "a"), build(store, tmp_path, "c")
    write(blob_path(store, "a"), "b")
    problems = store.verify(repair=True)

    assert [problem.path for problem in problems] == [
        blob_path(store, "a"),
        record_path(store, bad),
    ]
    assert all(str(problem).endswith(", removed") for problem in problems)
    assert store.verify() == []
    assert list(store.records(good["base"])) == [good]


@pytest.mark.parametrize("name", ["stray", "ab/stray", "ab/cd/ef"])
def test_a_stray_file_among_the_blobs_is_told(store: Store, name: str) -> None:
    path = os.path.join(store.root, "blobs", name)
    os.makedirs(os.path.dirname(path))
    write(path, "")

    assert [problem.path for problem in store.verify()] == [path]


def test_a_damaged_record_and_one_out_of_place_are_told(
    store: Store, tmp_path: Path
) -> None:
    damaged, moved = build(store, tmp_path, "a"), build(store, tmp_path, "b")
    write(record_path(store, damaged), "{")
    elsewhere = store.record_path(moved["base"], damaged["key"])
    os.rename(record_path(store, moved), elsewhere)
    problems = {problem.path: problem.problem for problem in store.verify(repair=True)}

    assert "cannot be read" in problems[record_path(store, damaged)]
    assert "belongs elsewhere" in problems[elsewhere]
    assert store.verify() == []


def test_gc_frees_what_nobody_used_for_long(store: Store, tmp_path: Path) -> None:
    old = build(store, tmp_path, "old")
    age(store, days=10)
    young = build(store, tmp_path, "young")
    freed = store.gc([], keep_days=5)

    assert freed.records == [record_path(store, old)]
    assert freed.blobs == [blob_path(store, "old")]
    assert freed.size_bytes > 3
    assert not os.path.exists(os.path.dirname(record_path(store, old)))
    assert list(store.records(young["base"])) == [young]
    assert store.verify() == []


def test_gc_tells_what_it_freed(store: Store, tmp_path: Path) -> None:
    build(store, tmp_path, "old")
    age(store, days=10)

    assert str(store.gc([], keep_days=5)).startswith("1 record and 1 blob, ")
    assert store.gc([], keep_days=5).blobs == []


def test_roots_stay_whatever_their_age(store: Store, tmp_path: Path) -> None:
    by_key, by_digest = build(store, tmp_path, "a"), build(store, tmp_path, "b")
    age(store, days=1000)
    freed = store.gc([by_key["key"], digest_bytes(b"b")], keep_days=0)

    assert freed.records == [record_path(store, by_digest)]
    assert freed.blobs == []
    assert list(store.records(by_key["base"])) == [by_key]


def test_a_record_of_a_minute_ago_stays_even_with_no_days_kept(
    store: Store, tmp_path: Path
) -> None:
    young, old = build(store, tmp_path, "young"), build(store, tmp_path, "old")
    then = time.time() - GRACE_S - 60
    os.utime(record_path(store, old), (then, then))
    freed = store.gc([], keep_days=0)

    assert freed.records == [record_path(store, old)]
    assert list(store.records(young["base"])) == [young]


def test_a_blob_that_another_record_still_names_stays(store: Store, tmp_path: Path) -> None:
    old = build(store, tmp_path, "shared")
    age(store, days=10)
    old["fingerprint"]["seed"] = 1
    young = make_record(
        old["fingerprint"], old["reads"], old["outputs"], warnings=[], facts={}
    )
    store.put_record(young)
    freed = store.gc([], keep_days=5)

    assert len(freed.records) == 1
    assert freed.blobs == []


def test_a_blob_of_a_build_that_is_not_recorded_yet_stays(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "new").write_text("new")
    (tmp_path / "again").write_text("again")
    store.add_file(tmp_path / "again")
    age(store, days=10)
    store.add_file(tmp_path / "new")
    store.add_file(tmp_path / "again", digest_bytes(b"again"))  # known, hence not written

    assert store.gc([], keep_days=0).blobs == []


def test_a_blob_that_came_to_be_needed_while_gc_listed_stays(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "made").write_text("a")
    store.add_file(tmp_path / "made")
    _delete(store, [], [blob_path(store, "a")], GRACE_S)
    assert os.path.exists(blob_path(store, "a"))
    age(store, days=1)
    _delete(store, [], [blob_path(store, "a")], GRACE_S)

    assert not os.path.exists(blob_path(store, "a"))


def test_a_restored_record_counts_as_used(store: Store, tmp_path: Path) -> None:
    record = build(store, tmp_path, "a")
    age(store, days=10)
    store.touch(record)

    assert store.gc([], keep_days=5).records == []


def test_gc_removes_what_killed_runs_left_and_idle_locks(
    store: Store, tmp_path: Path
) -> None:
    base = build(store, tmp_path, "a")["base"]
    with store.lock(base):
        pass
    left = os.path.join(store.root, "incoming", ".blob.tmp")
    write(left, "")
    age(store, days=1)
    with store.lock(digest_bytes(b"held")):
        age(store, days=1)
        freed = store.gc([], keep_days=5)

    assert freed.blobs == [left]
    assert len(os.listdir(os.path.join(store.root, "locks"))) == 1
