"""What may be opened as a file, and what not, without waiting for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import StageError
from ascendflow.om import source
from ascendflow.om.source import opened
from ascendflow.wire import MalformedError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_pipe_a_device_and_a_folder_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path / "pipe", tmp_path, tmp_path / "null"):
        if path.name == "null":
            path.symlink_to("/dev/null")
        with pytest.raises(StageError, match="is no regular file"), opened(path):
            pass


def test_what_cannot_be_opened_is_the_systems_own_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), opened(tmp_path / "nothing"):
        pass


def test_what_is_malformed_is_told_with_file_place_and_size(tmp_path: Path) -> None:
    path = tmp_path / "x.om"
    path.write_bytes(b"12345")

    with (
        pytest.raises(StageError, match=r"x\.om: wrong \(byte 3 of 5\)\n  hint"),
        opened(path),
    ):
        raise MalformedError(3, "wrong")


def test_a_file_that_shrinks_while_it_is_digested_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.om"
    path.write_bytes(bytes(200_000))

    def shrink_and_digest() -> None:
        with opened(path) as found:
            os.truncate(path, 5)
            found.sha256(0, found.size)

    with pytest.raises(StageError, match="200000 bytes are expected, 5 came"):
        shrink_and_digest()


def test_what_is_lent_is_given_back_and_what_is_kept_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x.om"
    path.write_bytes(b"1")

    with opened(path) as found:
        for _ in range(9):
            with found.lent():
                found.charge(0, items=2000)
        found.charge(0, items=2000)
        with pytest.raises(MalformedError, match="takes more than 1048580 bytes"):
            found.charge(0, items=2000)


def test_a_file_of_more_parts_than_any_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_MOST_PARTS", 5)
    path = tmp_path / "x.om"
    path.write_bytes(b"\x08\x01" * 6)

    with pytest.raises(StageError, match=r"5 parts \(byte 10 of"), opened(path) as found:
        list(found.walk(0, found.size))
