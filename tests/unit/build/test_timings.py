from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from ascendflow.build.timings import Timings

if TYPE_CHECKING:
    from pathlib import Path


def test_noted_time_is_told_to_the_next_run(tmp_path: Path) -> None:
    Timings(tmp_path / "timings.json").note("convert:toy", 12.3456)
    Timings(tmp_path / "timings.json").note("infer:toy", 1)

    timings = Timings(tmp_path / "timings.json")
    assert timings.last("convert:toy") == 12.346
    assert timings.last("infer:toy") == 1
    assert timings.last("gate:toy") is None
    assert [path.name for path in tmp_path.iterdir()] == ["timings.json"]


@pytest.mark.parametrize("content", [b"\xff", b"[]", b"{", b'{"a": "b"}'])
def test_damaged_file_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "timings.json"
    path.write_bytes(content)

    assert Timings(path).last("a") is None
    Timings(path).note("b", 2)
    assert Timings(path).last("b") == 2


def test_stages_that_end_at_once_disturb_each_other_in_nothing(tmp_path: Path) -> None:
    timings = Timings(tmp_path / "timings.json")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(timings.note, [f"task {n}" for n in range(200)], range(200)))

    assert [path.name for path in tmp_path.iterdir()] == ["timings.json"]


def test_folder_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    Timings(tmp_path / "file" / "timings.json").note("a", 1)
