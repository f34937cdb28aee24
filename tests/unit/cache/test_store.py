from __future__ import annotations

import copy
import errno
import os
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cache import blobs, files
from ascendflow.cache.digest import digest_bytes
from ascendflow.cache.fingerprint import fingerprint
from ascendflow.cache.index import Index
from ascendflow.cache.record import make_record
from ascendflow.cache.store import Store
from ascendflow.cache.tree import output_of
from ascendflow.errors import AscendflowError, CacheIntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.record import FileEntry, Record

NOBODY = 65534
ABC = digest_bytes(b"abc")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(b"abc")
    return path


def a_record(contents: dict[str, FileEntry] | None = None, **reads: Any) -> Record:
    preimage = fingerprint(
        stage="export",
        code=ABC,
        config={},
        inputs={},
        tools={},
        environment={},
        floats=False,
        seed=0,
    )
    found: Any = {"files": {}, "folders": {}, "missing": [], "distributions": {}} | reads
    outputs = {"exported": output_of(contents or {})}
    return make_record(preimage, found, outputs, warnings=[], facts={})


def added(store: Store, path: Path) -> dict[str, FileEntry]:
    """Add an artifact; returns its files."""
    entries = Index(Path(store.root).with_name("index")).tree(path)
    store.add(path, entries)
    return entries


def corrupt(store: Store, digest: str, data: bytes = b"abd") -> str:
    path = store.blobs.path_of(digest)
    os.chmod(path, 0o644)
    with open(path, "wb") as file:
        file.write(data)
    return path


def test_what_is_added_is_restored_with_the_same_bytes(
    store: Store, source: Path, tmp_path: Path
) -> None:
    digest = store.add_file(source)
    store.restore_file(digest, tmp_path / "build" / "export" / "model.onnx")

    assert digest == ABC
    assert (tmp_path / "build" / "export" / "model.onnx").read_bytes() == b"abc"
    assert source.read_bytes() == b"abc"


def test_a_blob_is_at_its_digest_and_read_only_whatever_the_umask(
    store: Store, source: Path
) -> None:
    old = os.umask(0o077)
    try:
        store.add_file(source)
    finally:
        os.umask(old)
    path = os.path.join(store.root, "blobs", ABC[7:9], ABC[9:])

    assert stat.S_IMODE(os.stat(path).st_mode) == 0o444
    assert os.listdir(os.path.join(store.root, "incoming")) == []


def test_a_restored_file_is_no_link_so_that_writing_to_it_spares_the_blob(
    store: Store, source: Path, tmp_path: Path
) -> None:
    store.add_file(source)
    target = tmp_path / "target"
    store.restore_file(ABC, target)
    blob = store.blobs.path_of(ABC)

    assert not target.is_symlink()
    assert (os.stat(blob).st_nlink, target.stat().st_nlink) == (1, 1)
    # As root this would go through a hard link, mode 0444 or not.
    target.write_bytes(b"xyz")
    store.restore_file(ABC, target)
    assert target.read_bytes() == b"abc"


def test_editing_the_source_afterwards_does_not_reach_the_store(
    store: Store, source: Path, tmp_path: Path
) -> None:
    store.add_file(source)
    source.write_bytes(b"xyz")
    store.restore_file(ABC, tmp_path / "target")

    assert (tmp_path / "target").read_bytes() == b"abc"


def test_a_corrupt_blob_is_dropped_and_not_restored(
    store: Store, source: Path, tmp_path: Path
) -> None:
    store.add_file(source)
    path = corrupt(store, ABC)
    (tmp_path / "target").write_bytes(b"old")

    with pytest.raises(CacheIntegrityError, match=f"blob {ABC} is corrupt"):
        store.restore_file(ABC, tmp_path / "target")
    assert not os.path.exists(path)
    assert (tmp_path / "target").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["source", "store", "target"]


def test_a_corrupt_blob_is_noticed_where_blocks_are_shared(
    store: Store, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clone(source: int, target: int) -> bool:
        os.pwrite(
            target, os.pread(source, 100, 0), 0
        )  # leaves both offsets, as FICLONE does
        return True

    monkeypatch.setattr(files, "_clone", clone)
    store.add_file(source)
    store.restore_file(ABC, tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == b"abc"
    corrupt(store, ABC)

    with pytest.raises(CacheIntegrityError, match="corrupt"):
        store.restore_file(ABC, tmp_path / "target")


def test_a_missing_blob_is_an_integrity_error(store: Store, tmp_path: Path) -> None:
    with pytest.raises(CacheIntegrityError, match="missing"):
        store.restore_file(ABC, tmp_path / "target")


def test_a_dropped_blob_can_be_added_again(
    store: Store, source: Path, tmp_path: Path
) -> None:
    store.add_file(source)
    corrupt(store, ABC)
    with pytest.raises(CacheIntegrityError):
        store.restore_file(ABC, tmp_path / "target")
    store.add_file(source)
    store.restore_file(ABC, tmp_path / "target")

    assert (tmp_path / "target").read_bytes() == b"abc"


def test_a_blob_cut_short_is_healed_by_the_next_add(
    store: Store, source: Path, tmp_path: Path
) -> None:
    store.add_file(source)
    corrupt(store, ABC, b"")
    store.add_file(source, ABC)
    store.restore_file(ABC, tmp_path / "target")

    assert (tmp_path / "target").read_bytes() == b"abc"


def test_a_file_whose_digest_is_known_is_not_read_again(
    store: Store, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add_file(source)
    monkeypatch.setattr(blobs, "copy_digesting", None)

    assert store.add_file(source, ABC) == ABC


def test_a_known_digest_saves_hashing_what_is_copied(
    store: Store, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(blobs, "copy_digesting", None)
        store.add_file(source, ABC)
    store.restore_file(ABC, tmp_path / "target")

    assert (tmp_path / "target").read_bytes() == b"abc"


def test_an_artifact_heals_a_corrupt_blob_of_the_same_size(
    store: Store, source: Path, tmp_path: Path
) -> None:
    store.add_file(source)
    corrupt(store, ABC)
    added(Store(store.root), source)
    store.restore_file(ABC, tmp_path / "target")

    assert (tmp_path / "target").read_bytes() == b"abc"


def test_an_artifact_with_a_blob_that_this_process_wrote_is_not_copied_again(
    store: Store, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(store, source)
    monkeypatch.setattr(blobs, "copy", None)

    assert added(store, source)[""]["digest"] == ABC


def test_a_wrong_digest_is_noticed_when_the_blob_is_restored(
    store: Store, source: Path, tmp_path: Path
) -> None:
    claimed = store.add_file(source, digest_bytes(b"other"))

    with pytest.raises(CacheIntegrityError, match="is corrupt"):
        store.restore_file(claimed, tmp_path / "target")
    assert not store.has(claimed)


def test_a_file_that_changes_while_it_is_copied_is_not_stored(
    store: Store, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(reading: int, writing: int) -> None:
        files.copy(reading, writing)
        source.write_bytes(b"abcd")

    monkeypatch.setattr(blobs, "copy", meanwhile)

    with pytest.raises(CacheIntegrityError, match="changed while it was stored"):
        store.add_file(source, ABC)
    assert not store.has(ABC)
    assert os.listdir(os.path.join(store.root, "incoming")) == []


def test_a_full_disk_is_an_error_that_names_the_place_and_leaves_nothing(
    store: Store, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(
            AscendflowError, match="store/incoming: No space left"
        ) as caught:
            store.add_file(source)

    assert "doit gc" in str(caught.value.hint)
    assert os.listdir(os.path.join(store.root, "incoming")) == []
    assert not store.has(ABC)


@contextmanager
def somebody() -> Iterator[None]:
    """Be a user who may not write everywhere: root may, so it becomes another one."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_store_is_an_error_that_names_the_place() -> None:
    # Not below pytest's own folder, which nobody else may enter.
    with TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "source").write_bytes(b"abc")
        store = Store(folder / "store")
        os.mkdir(store.root, 0o555)
        with somebody():
            can_read = (folder / "source").read_bytes() == b"abc"
            with pytest.raises(AscendflowError, match=r"store.*Permission") as caught:
                store.add_file(folder / "source")

    assert can_read
    assert "writable" in str(caught.value.hint)


def test_a_store_below_a_file_is_an_error_that_names_the_place(source: Path) -> None:
    with pytest.raises(AscendflowError, match="source"):
        Store(source / "store").add_file(source)


def a_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    (folder / "feeds").mkdir(parents=True)
    (folder / "labels").mkdir()
    (folder / "feeds" / "0.npy").write_bytes(b"abc")
    (folder / b"\xff".decode("utf-8", "surrogateescape")).write_bytes(b"x")
    return folder


def test_a_folder_is_restored_with_its_empty_folders_and_odd_names(
    store: Store, tmp_path: Path
) -> None:
    folder = a_folder(tmp_path)
    entries = added(store, folder)
    store.restore(entries, tmp_path / "build" / "samples")
    index = Index(tmp_path / "index")

    assert entries == index.tree(folder) == index.tree(tmp_path / "build" / "samples")
    assert (tmp_path / "build" / "samples" / "labels").is_dir()
    assert os.listdir(tmp_path / "build") == ["samples"]


def test_a_file_artifact_and_an_empty_folder_are_restored(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "check.json").write_bytes(b"{}")
    store.restore(added(store, tmp_path / "check.json"), tmp_path / "build" / "check.json")
    store.restore({}, tmp_path / "build" / "empty")

    assert (tmp_path / "build" / "check.json").read_bytes() == b"{}"
    assert os.listdir(tmp_path / "build" / "empty") == []


def test_a_restore_replaces_what_is_there_and_leaves_no_strangers(
    store: Store, tmp_path: Path
) -> None:
    entries = added(store, a_folder(tmp_path))
    target = tmp_path / "build" / "samples"
    target.mkdir(parents=True)
    (target / "stranger").write_bytes(b"")
    store.restore(entries, target)

    assert Index(tmp_path / "index").tree(target) == entries


def test_a_restore_that_fails_leaves_what_was_there(store: Store, tmp_path: Path) -> None:
    entries = added(store, a_folder(tmp_path))
    target = tmp_path / "build" / "samples"
    target.mkdir(parents=True)
    (target / "old").write_bytes(b"")
    corrupt(store, digest_bytes(b"x"), b"y")

    with pytest.raises(CacheIntegrityError):
        store.restore(entries, target)
    assert os.listdir(target) == ["old"]
    assert os.listdir(tmp_path / "build") == ["samples"]


def test_a_path_that_leads_out_is_not_restored(
    store: Store, source: Path, tmp_path: Path
) -> None:
    store.add_file(source)

    with pytest.raises(CacheIntegrityError, match="no plain relative path"):
        store.restore(
            {"../out": {"digest": ABC, "size": 3}}, tmp_path / "build" / "samples"
        )
    assert not (tmp_path / "build" / "out").exists()


ADDER = """
import sys
from ascendflow.cache.store import Store
store = Store(sys.argv[1])
for _ in range(5):
    for name in sys.argv[3:]:
        store.restore_file(store.add_file(name), sys.argv[2])
"""


def test_processes_that_add_and_restore_at_once_do_no_harm(
    store: Store, tmp_path: Path
) -> None:
    sources = [tmp_path / str(number) for number in range(8)]
    for number, path in enumerate(sources):
        path.write_bytes(bytes([number]) * 300_000)
    children = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                ADDER,
                store.root,
                tmp_path / f"target-{child}",
                *sources,
            ]
        )
        for child in range(4)
    ]
    assert [child.wait() for child in children] == [0, 0, 0, 0]

    assert store.verify() == []
    assert len(list(store.blobs.files())) == 8
    assert os.listdir(os.path.join(store.root, "incoming")) == []


def test_records_are_found_by_base_the_last_used_first(store: Store) -> None:
    first, second = a_record(missing=["pipeline:a"]), a_record(missing=["pipeline:b"])
    for age, record in enumerate((first, second)):
        store.put_record(record)
        os.utime(store.record_path(record["base"], record["key"]), (age, age))

    assert list(store.records(first["base"])) == [second, first]
    store.touch(first)
    assert list(store.records(first["base"])) == [first, second]
    assert list(store.records(ABC)) == []


@pytest.mark.parametrize("text", ["", "{", "{}", '{"schema_version": 7}'])
def test_a_corrupt_record_is_passed_over_with_a_reason(store: Store, text: str) -> None:
    good, bad = a_record(), a_record(missing=["pipeline:a"])
    for record in (good, bad):
        store.put_record(record)
    path = store.record_path(bad["base"], bad["key"])
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    problems: list[str] = []

    assert list(store.records(good["base"], on_problem=problems.append)) == [good]
    assert list(store.records(good["base"])) == [good]
    (problem,) = problems
    assert problem.startswith(f"{path}: ")


def test_a_record_at_the_place_of_another_is_passed_over(store: Store) -> None:
    good, other = a_record(), a_record(missing=["pipeline:a"])
    store.put_record(good)
    os.rename(
        store.record_path(good["base"], good["key"]),
        store.record_path(good["base"], other["key"]),
    )

    assert list(store.records(good["base"])) == []


def test_a_second_record_of_a_key_does_not_replace_the_first(
    store: Store, source: Path
) -> None:
    first = a_record(added(store, source))
    source.write_bytes(b"not deterministic")
    second = copy.deepcopy(first)
    second["outputs"]["exported"] = output_of(added(store, source))

    assert store.put_record(first) == first
    assert store.put_record(second) == first
    assert list(store.records(first["base"])) == [first]


def test_a_record_whose_blob_was_dropped_is_replaced(
    store: Store, source: Path, tmp_path: Path
) -> None:
    first = a_record(added(store, source))
    store.put_record(first)
    corrupt(store, ABC)
    with pytest.raises(CacheIntegrityError):
        store.restore(first["outputs"]["exported"]["files"], tmp_path / "target")
    source.write_bytes(b"not deterministic")
    second = copy.deepcopy(first)
    second["outputs"]["exported"] = output_of(added(store, source))

    assert store.put_record(second) == second
    assert list(store.records(first["base"])) == [second]


def test_the_lock_of_a_base_is_held_by_one(store: Store) -> None:
    waited: list[str] = []

    def on_wait(note: str) -> None:
        waited.append(note)
        raise TimeoutError

    with store.lock(ABC):
        with pytest.raises(TimeoutError), store.lock(ABC, on_wait=on_wait):
            pass
        with store.lock(digest_bytes(b"other"), on_wait=pytest.fail):
            pass

    assert len(waited) == 1
    assert waited[0].startswith(f"process {os.getpid()} (")


def test_adding_a_known_blob_makes_it_young_again(store: Store, source: Path) -> None:
    store.add_file(source)
    path = store.blobs.path_of(ABC)
    os.utime(path, (0, 0))
    store.add_file(source, ABC)

    assert time.time() - os.stat(path).st_mtime < 60
