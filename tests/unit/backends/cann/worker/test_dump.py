"""What acl is asked for, and what is told of the files that it leaves."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.worker.dump import LONGEST_PATH, ask_for_dump, dumped
from ascendflow.backends.cann.worker.refused import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

PLACE = "dump/20260102030405/0/model/1/0"


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_configuration_has_the_keys_that_acl_reads(work: Path) -> None:
    assert ask_for_dump(["model", "branch_0"]) == str(work / "acl.json")
    assert json.loads((work / "acl.json").read_text()) == {
        "dump": {
            "dump_list": [{"model_name": "model"}, {"model_name": "branch_0"}],
            "dump_path": str(work / "dump"),
            "dump_mode": "output",
            "dump_op_switch": "off",
        }
    }
    assert (work / "dump").is_dir()  # acl makes none


def test_what_a_run_that_broke_off_has_left_is_not_taken_for_ours(work: Path) -> None:
    (work / PLACE).mkdir(parents=True)
    (work / PLACE / "Add.old.1.3.5").write_bytes(b"old")
    ask_for_dump(["model"])
    with pytest.raises(RefusedError, match="nothing was dumped"):
        dumped(8)


def test_folder_whose_path_acl_does_not_take_is_refused(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        work /= "x" * 150
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    with pytest.raises(RefusedError, match=f"more than {LONGEST_PATH} characters"):
        ask_for_dump(["model"])


def test_files_are_numbered_and_told(work: Path) -> None:
    ask_for_dump(["model"])
    (work / PLACE).mkdir(parents=True)
    (work / PLACE / "Add.a.1.3.5").write_bytes(b"one")
    (work / PLACE / "Add.b.2.3.6").write_bytes(b"three")

    found = dumped(8)

    assert [(each["file"], each["path"], each["size"]) for each in found] == [
        ("dump-0", "20260102030405/0/model/1/0/Add.a.1.3.5", 3),
        ("dump-1", "20260102030405/0/model/1/0/Add.b.2.3.6", 5),
    ]
    assert found[1]["sha256"] == hashlib.sha256(b"three").hexdigest()
    assert (work / "dump-1").read_bytes() == b"three"


def test_pipe_and_link_in_the_folder_are_passed_over(work: Path) -> None:
    ask_for_dump(["model"])
    (work / PLACE).mkdir(parents=True)
    (work / PLACE / "Add.a.1.3.5").write_bytes(b"abc")
    os.mkfifo(work / PLACE / "Add.b.1.3.5")
    (work / PLACE / "Add.c.1.3.5").symlink_to("/etc/hostname")
    (work / PLACE / "Add.d.1.3.5").symlink_to(work / "nowhere")

    assert [each["path"] for each in dumped(8)] == [f"{PLACE[5:]}/Add.a.1.3.5"]


def test_too_many_bytes_and_none_are_refused(work: Path) -> None:
    ask_for_dump(["model"])
    with pytest.raises(RefusedError, match="nothing was dumped"):
        dumped(8)
    (work / PLACE).mkdir(parents=True)
    (work / PLACE / "Add.a.1.3.5").write_bytes(bytes(9))
    with pytest.raises(RefusedError, match=r"has 9 bytes in 1 files, .* allows 8 bytes"):
        dumped(8)
