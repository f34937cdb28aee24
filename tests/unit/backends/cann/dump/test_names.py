"""Names of dump files, as GE writes and msprobe reads them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.dump.names import (
    DumpName,
    dumps,
    parsed,
    spelled,
)
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Conv2D.conv_1.12.1600000000", DumpName("Conv2D", "conv_1", 12, None, 1600000000)),
        ("Conv2D.a-b.12.3.16", DumpName("Conv2D", "a-b", 12, 3, 16)),
        (
            "PartitionedCall._layer_0_add.0.0.1",
            DumpName("PartitionedCall", "_layer_0_add", 0, 0, 1),
        ),
        ("Conv2D.a.12.3.16.2.5.0.1", DumpName("Conv2D", "a", 12, 3, 16)),  # FFTS+
        ("Conv2D.a.12.3.16.2.5.7", DumpName("Conv2D", "a", 12, 3, 16, 7)),
        ("Conv2D.co nv.1.2", DumpName("Conv2D", "co nv", 1, None, 2)),
        (
            "Conv2D.\u5377\u79ef:0 (\u00e9).1.3.2",
            DumpName("Conv2D", "\u5377\u79ef:0 (\u00e9)", 1, 3, 2),
        ),
    ],
)
def test_name_is_taken_apart(name: str, told: DumpName) -> None:
    assert parsed(name) == told


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Conv2D.conv.1",
            "conv.1.2",
            "Conv2D.conv.x.2",
            "Conv2D.conv.1.2.3.4",
            "Conv2D..1.2",
        ),
        *(
            "Conv2D.conv.1.2.npy",
            "Conv2D.co\x07nv.1.2",
            "Conv2D.conv.1.2\n",
            "a.b.1." + "9" * 30,
        ),
        *("Conv2D.conv.\u0661.2", "", "12"),
    ],
)
def test_what_is_no_name_of_a_dump_is_none(name: str) -> None:
    assert parsed(name) is None


def test_operator_is_spelled_as_in_file_names() -> None:
    assert spelled("/layer.0/Conv:0-b_c") == "_layer_0_Conv:0-b_c"
    assert spelled("up scale\\\u5377") == "up_scale_\u5377"


def test_folder_is_listed_by_time_and_long_names_through_the_mapping(
    tmp_path: Path,
) -> None:
    for name in ("Conv2D.late.3.20", "Relu.early.7.1.10", "123456"):
        (tmp_path / name).touch()
    (tmp_path / "mapping.csv").write_text(f"123456,Add.{'long_' * 60}.1.15\n")
    (tmp_path / "folder").mkdir()

    found = dumps(tmp_path, pytest.fail)

    assert [told.op_type for told in found.values()] == ["Relu", "Add", "Conv2D"]
    assert [path.name for path in found] == [
        "Relu.early.7.1.10",
        "123456",
        "Conv2D.late.3.20",
    ]
    assert found[tmp_path / "123456"].name == "long_" * 60


def test_strangers_and_digits_without_a_mapping_are_told_and_alone_refused(
    tmp_path: Path,
) -> None:
    for name in ("Conv2D.conv.3.20", "123", "notes.txt", "x\udcff"):  # no UTF-8
        (tmp_path / name).touch()
    text = r"3 files are no dumps by their names: 123, notes.txt, x\udcff"
    warned: list[str] = []

    assert [path.name for path in dumps(tmp_path, warned.append)] == ["Conv2D.conv.3.20"]
    assert warned == [text]

    (tmp_path / "Conv2D.conv.3.20").unlink()
    with pytest.raises(StageError, match=re.escape(text)):
        dumps(tmp_path, pytest.fail)


def test_operator_that_lies_in_parts_is_told_and_left_out(tmp_path: Path) -> None:
    for name in ("Add.a.1.3.5.2.0.0.0", "Mul.b.2.3.5.2.1.0.0", "Mul.b.2.3.6.2.1.1.0"):
        (tmp_path / name).touch()
    warned: list[str] = []

    found = dumps(tmp_path, warned.append)

    assert [path.name for path in found] == ["Add.a.1.3.5.2.0.0.0"]
    assert warned == ["the files of operators hold one thread's part each: b"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1,Conv2D.conv.1.2\n2\n", "line 2 has 1 columns, not 2"),
        ('1,"Conv2D', "is no table: unexpected end"),
    ],
)
def test_mapping_that_is_none_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "mapping.csv").write_text(text)

    with pytest.raises(StageError, match=told):
        dumps(tmp_path, pytest.fail)


def test_mapping_of_any_size_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "mapping.csv").open("wb") as file:
        file.truncate((100 << 20) + 1)

    with pytest.raises(StageError, match="has 104857601 bytes, the most is 104857600"):
        dumps(tmp_path, pytest.fail)
