from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.backends.cann.dumped import dumped_files, laid_out
from ascendflow.errors import StageError, ToolFailedError

if TYPE_CHECKING:
    from pathlib import Path

PLACE = "20260102030405/0/model/1/0"


def said(number: int, path: str, content: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    return {"file": f"dump-{number}", "path": path, "size": len(content), "sha256": digest}


def told(*files: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"event": "device"}, {"event": "dumped", "files": list(files)}]


def came(folder: Path, *contents: bytes) -> None:
    for number, content in enumerate(contents):
        (folder / f"dump-{number}").write_bytes(content)


def test_files_get_their_names_back_in_a_folder_for_each_that_they_lay_in(
    tmp_path: Path,
) -> None:
    came(tmp_path, b"one", b"two", b"three")
    answers = told(
        said(0, f"{PLACE}/Add.a.1.3.5", b"one"),
        said(1, f"{PLACE}/mapping.csv", b"two"),
        said(2, "20260102030405/0/branch/2/0/Add.a.1.3.5", b"three"),
    )

    first, second = laid_out(tmp_path, answers)

    assert {each.name: each.read_bytes() for each in first.iterdir()} == {
        "Add.a.1.3.5": b"one",
        "mapping.csv": b"two",
    }
    assert [each.read_bytes() for each in second.iterdir()] == [b"three"]


def test_folders_of_single_operators_are_passed_over(tmp_path: Path) -> None:
    came(tmp_path, b"one", b"two")
    answers = told(
        said(0, f"{PLACE}/Add.a.1.3.5", b"one"), said(1, "x/aclnnAdd.a.1.3.5", b"two")
    )

    (only,) = laid_out(tmp_path, answers)

    assert [each.name for each in only.iterdir()] == ["Add.a.1.3.5"]


@pytest.mark.parametrize("content", [b"", b"on", b"ono", b"ones"])
def test_file_that_is_not_the_one_on_the_device_is_refused(
    tmp_path: Path, content: bytes
) -> None:
    came(tmp_path, content)
    with pytest.raises(ToolFailedError, match=f"with {len(content)} bytes of 3"):
        laid_out(tmp_path, told(said(0, "Add.a.1.3.5", b"one")))


def test_file_that_did_not_come_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolFailedError, match="with 0 bytes of 3"):
        laid_out(tmp_path, told(said(0, "Add.a.1.3.5", b"one")))


@pytest.mark.parametrize(
    "name", ["", ".", "..", "-rf", ".ssh", "a\nb", "a\0b", "x" * 256, "日" * 86]
)
def test_name_that_no_dump_has_is_refused(tmp_path: Path, name: str) -> None:
    came(tmp_path, b"one")
    with pytest.raises(StageError, match="the device dumped a file named"):
        laid_out(tmp_path, told(said(0, f"{PLACE}/{name}", b"one")))
    assert not list(tmp_path.glob("dumped/*/*"))


@pytest.mark.parametrize("name", ["../dump-1", "dump-", "dump-1\n", "model.om"])
def test_worker_cannot_have_another_file_fetched(tmp_path: Path, name: str) -> None:
    file = said(0, "Add.a.1.3.5", b"one") | {"file": name}
    with pytest.raises(StageError, match="the worker names a file"):
        dumped_files(told(file), tmp_path)


def test_nothing_dumped_is_refused(tmp_path: Path) -> None:
    for answers in ([{"event": "end"}], told()):
        with pytest.raises(StageError, match="the device dumped nothing"):
            laid_out(tmp_path, answers)


def test_dump_for_which_there_is_no_room_is_not_fetched(tmp_path: Path) -> None:
    file = said(0, "Add.a.1.3.5", b"one")
    assert dumped_files(told(file), tmp_path) == {"dump-0": 3}
    free = shutil.disk_usage(tmp_path).total
    with pytest.raises(StageError, match=f"the dump has {free} bytes, and") as raised:
        dumped_files(told(file | {"size": free}), tmp_path)
    assert "TMPDIR" in str(raised.value.hint)
