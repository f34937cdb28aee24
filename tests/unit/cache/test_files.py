from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cache import files
from ascendflow.cache.digest import digest_bytes
from ascendflow.cache.files import write_disposable
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_write_that_fails_leaves_the_old_content_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "record.json"
    files.write_bytes(str(target), b"old")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(AscendflowError) as caught:
        files.write_bytes(str(target), b"new")

    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["record.json"]
    assert str(target) in caught.value.message
    assert "No space left" in caught.value.message
    assert "doit gc" in str(caught.value.hint)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_a_folder_that_cannot_be_written_to_is_said_with_what_to_do(number: int) -> None:
    with pytest.raises(AscendflowError) as caught, files.explained("/some/store"):
        raise OSError(number, os.strerror(number))

    assert "/some/store" in caught.value.message
    assert "writable" in str(caught.value.hint)


def test_a_file_where_a_folder_should_be_is_said_without_a_traceback(
    tmp_path: Path,
) -> None:
    (tmp_path / "store").write_bytes(b"")

    with pytest.raises(AscendflowError, match=r"cannot use .*store"):
        files.write_bytes(str(tmp_path / "store" / "record.json"), b"")


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    for name, member in (("old", "gone"), ("new", "there")):
        (tmp_path / name).mkdir()
        (tmp_path / name / member).write_bytes(b"")
    files.put_in_place(str(tmp_path / "new"), str(tmp_path / "old"))

    assert os.listdir(tmp_path) == ["old"]
    assert os.listdir(tmp_path / "old") == ["there"]


def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "new").write_bytes(b"new")
    files.put_in_place(str(tmp_path / "new"), str(tmp_path / "link"))

    assert (tmp_path / "link").read_bytes() == b"new"
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere").is_dir()


def test_a_copy_is_digested_from_what_it_holds_where_blocks_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Stands for a clone that went wrong: the digest must be of the copy, not of the source.
    def clone(source: int, target: int) -> bool:
        os.write(target, os.pread(source, 100, 0).upper())
        os.lseek(target, 0, os.SEEK_SET)
        return True

    monkeypatch.setattr(files, "_clone", clone)
    (tmp_path / "source").write_bytes(b"abc")
    source = os.open(tmp_path / "source", os.O_RDONLY)
    target = os.open(tmp_path / "target", os.O_RDWR | os.O_CREAT)
    found = files.copy_digesting(source, target)
    os.close(source)
    os.close(target)

    assert found == (digest_bytes(b"ABC"), 3)


def test_copy_of_many_chunks_holds_and_digests_all_of_them(tmp_path: Path) -> None:
    content = os.urandom(3 * files.CHUNK + 5)
    (tmp_path / "source").write_bytes(content)
    source = os.open(tmp_path / "source", os.O_RDONLY)
    target = os.open(tmp_path / "target", os.O_RDWR | os.O_CREAT)
    found = files.copy_digesting(source, target)
    os.close(source)
    os.close(target)

    assert found == (digest_bytes(content), len(content))
    assert (tmp_path / "target").read_bytes() == content


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_while_many_chunks_are_copied_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(bytes(2 * files.CHUNK))
    source, target = (
        os.open(tmp_path / "source", os.O_RDONLY),
        os.open("/dev/full", os.O_RDWR),
    )

    with pytest.raises(OSError, match="No space left"):
        files.copy_digesting(source, target)
    os.close(source)
    os.close(target)


def test_what_nobody_misses_is_gone_before_it_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("old")
    write_disposable(str(path), b"new")
    assert path.read_bytes() == b"new"

    (tmp_path / "file").touch()
    with pytest.raises(AscendflowError):
        write_disposable(str(tmp_path / "file" / "kept"), b"new")
