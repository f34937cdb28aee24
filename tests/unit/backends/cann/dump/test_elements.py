"""Elements by protobuf's numbers, against bytes that are spelled out."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.backends.cann.dump.elements import READ, dtype, values
from ascendflow.backends.cann.dump.file import read
from ascendflow.errors import StageError
from tests.dump_files import dump, tensor

if TYPE_CHECKING:
    from pathlib import Path

ONE = {
    1: struct.pack("<f", 1),
    2: struct.pack("<e", 1),
    3: b"\1",
    4: b"\1",
    5: struct.pack("<h", 1),
    6: struct.pack("<H", 1),
    7: struct.pack("<i", 1),
    8: struct.pack("<q", 1),
    9: struct.pack("<I", 1),
    10: struct.pack("<Q", 1),
    11: b"\1",
    12: struct.pack("<d", 1),
    27: struct.pack("<f", 1)[2:],
    34: b"\x3c",  # sign, five bits of exponent (bias 15), two of fraction
    35: b"\x38",  # sign, four bits of exponent (bias 7), three of fraction
}
"""The number 1 of each element type."""


@pytest.mark.parametrize("number", ONE)
def test_one_is_one_of_every_type(tmp_path: Path, number: int) -> None:
    path = tmp_path / "Op.x.1.2"
    path.write_bytes(dump(outputs=[tensor(ONE[number] * 6, number, 2, [2, 3])]))
    read_back = read(path)

    found = values(read_back, read_back.outputs[0])

    assert found.shape == (2, 3)
    assert found.dtype.name == READ[number]
    assert (found.astype(np.float64) == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 0


def test_table_has_no_type_that_is_not_tried() -> None:
    assert ONE.keys() == READ.keys()
    assert all(dtype(number).itemsize == len(one) for number, one in ONE.items())


def test_bytes_that_the_device_rounded_up_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "Op.x.1.2"
    path.write_bytes(dump([tensor(struct.pack("<8f", *range(8)), 1, 2, [3])]))
    read_back = read(path)

    assert values(read_back, read_back.inputs[0]).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("number", "told"),
    [(28, "int4"), (33, "hifloat8"), (0, "undefined"), (99, r"unknown \(99\)")],
)
def test_elements_that_are_not_read_are_refused(
    tmp_path: Path, number: int, told: str
) -> None:
    path = tmp_path / "Op.x.1.2"
    path.write_bytes(dump([tensor(b"abcd", number, 2, [4])], op_name="conv"))
    read_back = read(path)

    with pytest.raises(StageError, match=f"a tensor of conv has elements of type {told}"):
        values(read_back, read_back.inputs[0])


@pytest.mark.parametrize(
    "shape", [pytest.param([2, 3], id="more"), pytest.param([2**62, 2**62], id="endless")]
)
def test_shape_that_needs_more_than_there_is_is_refused(
    tmp_path: Path, shape: list[int]
) -> None:
    path = tmp_path / "Op.x.1.2"
    path.write_bytes(dump([tensor(bytes(23), 1, 2, shape)]))
    read_back = read(path)

    with pytest.raises(StageError, match=r"has 23 bytes, .* of float32 needs"):
        values(read_back, read_back.inputs[0])
