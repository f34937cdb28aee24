"""A large file is copied while it is digested, and trusted no more for that."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

import pytest

from ascendflow.cache import blobs, copies
from ascendflow.cache.digest import digest_file
from ascendflow.cache.files import copy
from ascendflow.cache.store import Store
from ascendflow.cache.twins import look
from ascendflow.errors import AscendflowError, CacheIntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ascendflow.documents.record import FileEntry


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "large").write_bytes(os.urandom(copies.LARGE))
    (folder / "large").write_bytes(os.urandom(copies.LARGE + 1))
    (folder / "small").write_bytes(b"abc")
    return folder


def look_of(path: Path) -> int:
    with path.open("rb") as file:
        return look(file.fileno())


def tree(artifact: Path) -> dict[str, FileEntry]:
    return {
        name: {
            "digest": digest_file(artifact / name),
            "size": (artifact / name).stat().st_size,
        }
        for name in ("below/large", "large", "small")
    }


def incoming(store: Store) -> list[str]:
    return os.listdir(store.blobs.incoming)


def test_large_files_are_copied_beside_and_small_ones_as_they_are_added(
    store: Store, artifact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def counted(source: int, target: int) -> None:
        sizes.append(os.fstat(source).st_size)
        os.write(target, os.read(source, 100))

    monkeypatch.setattr(blobs, "copy", counted)
    files = tree(artifact)
    with store.copying(artifact) as under_way:
        store.add(artifact, files, under_way)
    store.restore(files, tmp_path / "again")

    assert sizes == [3]
    for name in files:
        assert (tmp_path / "again" / name).read_bytes() == (artifact / name).read_bytes()
    assert incoming(store) == []


def test_one_file_is_an_artifact_too(store: Store, artifact: Path, tmp_path: Path) -> None:
    one = artifact / "large"
    with store.copying(one) as under_way:
        store.add(one, {"": tree(artifact)["large"]}, under_way)
    store.restore_file(digest_file(one), tmp_path / "again")

    assert (tmp_path / "again").read_bytes() == one.read_bytes()


def test_what_is_written_to_after_it_was_copied_is_not_stored(
    store: Store, artifact: Path
) -> None:
    with store.copying(artifact) as under_way:
        under_way.take(str(artifact / "large"))
        with (artifact / "large").open("r+b") as file:
            file.write(b"other")
        files = tree(artifact)
        with pytest.raises(CacheIntegrityError, match="large changed while it was stored"):
            store.add(artifact, files, under_way)

    assert not store.has(files["large"]["digest"])
    assert incoming(store) == []


def test_a_full_disk_is_told_as_it_is_added_and_leaves_nothing(
    store: Store, artifact: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(copies, "copy", full)
    monkeypatch.setattr(blobs, "copy", full)
    with (
        pytest.raises(AscendflowError, match="store/incoming: No space left") as caught,
        store.copying(artifact) as under_way,
    ):
        store.add(artifact, tree(artifact), under_way)

    assert "doit gc" in str(caught.value.hint)
    assert incoming(store) == []


def test_a_disk_with_room_for_one_more_copy_takes_what_replaces_what_is_there(
    store: Store, artifact: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in the store is written anew, file by file, as it may be corrupt."""
    files = tree(artifact)
    store.add(artifact, files)
    room = copies.LARGE + (1 << 20)

    def narrow(source: int, target: int, *, is_wanted: Callable[[], bool]) -> None:
        incoming = os.scandir(store.blobs.incoming)
        taken = sum(each.stat().st_size for each in incoming)
        if taken + os.fstat(source).st_size > room:
            os.write(target, b"part")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        copy(source, target, is_wanted=is_wanted)

    monkeypatch.setattr(copies, "copy", narrow)
    again = Store(store.root)
    for name in files:
        path = again.blobs.path_of(files[name]["digest"])
        os.chmod(path, 0o600)
        os.truncate(path, 0)
    with again.copying(artifact) as under_way:
        assert under_way.take(str(artifact / "large")) is None
        assert len(incoming(store)) == 1
        again.add(artifact, files, under_way)

    assert again.verify() == []
    assert incoming(store) == []


def test_a_block_that_fails_waits_for_no_copy_and_leaves_none(
    store: Store, artifact: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(_: int, target: int, *, is_wanted: Callable[[], bool]) -> None:
        os.write(target, b"part")
        while is_wanted():
            time.sleep(0.01)

    monkeypatch.setattr(copies, "copy", endless)
    with pytest.raises(KeyboardInterrupt), store.copying(artifact):
        raise KeyboardInterrupt

    assert incoming(store) == []


def test_where_no_thread_starts_all_is_copied_as_it_is_added(
    store: Store, artifact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    files = tree(artifact)
    with store.copying(artifact) as under_way:
        store.add(artifact, files, under_way)
    store.restore(files, tmp_path / "again")

    assert (tmp_path / "again" / "large").read_bytes() == (artifact / "large").read_bytes()


def test_what_looks_as_if_it_were_stored_is_not_copied_ahead(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytearray(os.urandom(copies.LARGE))
    first, same, other = (tmp_path / name for name in ("first", "same", "other"))
    first.write_bytes(content)
    same.write_bytes(content)
    content[copies.LARGE // 3] ^= 1
    other.write_bytes(content)
    digests = {path: digest_file(path) for path in (first, same, other)}
    assert len(set(map(look_of, digests))) == 1
    begun: list[str] = []
    really = copies.Copies._copy

    def noted(self: copies.Copies, path: str) -> copies.Copied:
        begun.append(path)
        return really(self, path)

    monkeypatch.setattr(copies.Copies, "_copy", noted)

    for path, digest in digests.items():
        with store.copying(path) as under_way:
            store.add(path, {"": {"digest": digest, "size": copies.LARGE}}, under_way)

    assert begun == [str(first)]
    for path, digest in digests.items():
        store.restore_file(digest, tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()
