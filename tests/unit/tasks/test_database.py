from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from doit.dependency import Dependency, JSONCodec

from ascendflow.tasks.database import Database

if TYPE_CHECKING:
    from pathlib import Path


def opened(path: Path) -> Database:
    return Database(str(path), JSONCodec())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "doit.json"


def test_saved_values_are_there_in_the_next_run(path: Path) -> None:
    first = opened(path)
    first.set("convert:toy", "_values_:", {"key": "sha256:1"})
    first.set("convert:toy", "deps:", ())
    first.dump()
    second = opened(path)

    assert second.get("convert:toy", "_values_:") == {"key": "sha256:1"}
    assert second.get("convert:toy", "other") is None
    assert second.in_("convert:toy")
    assert not second.in_("infer:toy")


def test_values_are_not_written_before_the_end(path: Path) -> None:
    opened(path).set("a", "b", 1)

    assert not path.exists()


def test_run_that_saves_what_is_there_writes_nothing(path: Path) -> None:
    first = opened(path)
    first.set("a", "deps:", (1, 2))
    first.dump()
    inode = path.stat().st_ino
    second = opened(path)
    second.set("a", "deps:", (1, 2))
    second.remove("b")
    second.dump()

    assert path.stat().st_ino == inode


def test_two_runs_at_once_keep_each_others_values(path: Path) -> None:
    one, two = opened(path), opened(path)
    one.set("a", "x", 1)
    two.set("b", "x", 2)
    two.set("c", "x", 3)
    two.dump()
    one.remove("c")  # which it did not know
    one.dump()

    assert json.loads(path.read_text()) == {"a": {"x": 1}, "b": {"x": 2}, "c": {"x": 3}}


def test_removed_task_is_gone_and_may_come_back(path: Path) -> None:
    first = opened(path)
    first.set("a", "x", 1)
    first.set("a", "y", 1)
    first.set("b", "x", 1)
    first.dump()
    second = opened(path)
    second.remove("a")
    second.remove("b")
    second.set("b", "y", 2)
    second.dump()

    assert json.loads(path.read_text()) == {"b": {"y": 2}}
    third = opened(path)
    third.remove_all()
    third.dump()
    assert json.loads(path.read_text()) == {}


@pytest.mark.parametrize(
    "content", [b"\xff\x00", b"", b"{", b"[]", b"null", b'{"a": 1}'], ids=repr
)
def test_damaged_file_counts_as_empty_and_is_mended(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    database = opened(path)

    assert not database.in_("a")
    assert database.get("a", "x") is None
    database.set("a", "x", 1)
    database.dump()
    assert json.loads(path.read_text()) == {"a": {"x": 1}}


def test_folder_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    database = opened(tmp_path / "file" / "doit.json")
    database.set("a", "x", 1)

    database.dump()


def test_doit_takes_it_as_its_own(path: Path) -> None:
    manager = Dependency(Database, str(path))
    manager._set("a", "_values_:", {"key": "1"})
    manager.close()

    assert Dependency(Database, str(path)).get_values("a") == {"key": "1"}
    assert Dependency(Database, str(path)).get_values("b") == {}
