"""MODEL_INOUT_INFO: what it says, and every way in which its lengths may not fit."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import StageError
from tests import om_files
from tests.om_files import (
    INOUT_INFO,
    MODEL_DEF,
    desc,
    graph,
    inout_info,
    lists,
    model_def,
    op,
    tensors,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ascendflow.documents.inspection import Inspection

OTHER = op("other", "Data", output_desc=[desc(1, [9])])
MODEL = (MODEL_DEF, model_def([graph("g", [OTHER])], {}))
IMAGE = ("image", 1, 4, [1, 8, 8, 3], [1, 3, 8, 8], [1, 1, 8, 64], 192)
LOGITS: tuple[str, int, int, list[int], list[int], list[int], int]
LOGITS = ("logits", 2, 27, [-1, 4], [-1, 4], [], 0)


def made(info: bytes) -> bytes:
    return om_files.om([(INOUT_INFO, info), MODEL])


def test_inputs_and_outputs_are_its_own_and_not_the_graphs(
    inspect: Callable[[bytes], Inspection],
) -> None:
    found = inspect(made(inout_info((0, tensors(IMAGE)), (1, tensors(LOGITS, LOGITS)))))

    assert found["inputs"] == [
        {
            "name": "image",
            "dtype": "uint8",
            "shape": [1, 8, 8, 3],
            "format": "NHWC",
            "size": 192,
            "ranges": [[1, 1], [8, 64]],
            "aipp_shape": [1, 3, 8, 8],
        }
    ]
    assert [each["dtype"] for each in found["outputs"]] == ["bfloat16"] * 2
    assert found["outputs"][0]["shape"] == [-1, 4]
    assert found["outputs"][0]["aipp_shape"] is None


@pytest.mark.parametrize(
    ("kind", "value", "word", "values"),
    [
        pytest.param(2, struct.pack("<I2q", 2, 1, 8), "batch", [[1], [8]], id="batch"),
        pytest.param(3, lists([8, 8], [16, 8]), "image", [[8, 8], [16, 8]], id="image"),
        pytest.param(
            4, lists([1, 2, 3], [4, 5, 6]), "dims", [[1, 2, 3], [4, 5, 6]], id="dims"
        ),
    ],
)
def test_gears_of_each_kind_are_told(
    inspect: Callable[[bytes], Inspection],
    kind: int,
    value: bytes,
    word: str,
    values: list[list[int]],
) -> None:
    info = inout_info((kind, value), (5, texts("0,1")), (6, texts("b", "a")), (77, b"new"))

    found = inspect(made(info))

    assert found["om"] is not None
    assert found["om"]["gears"] == {"kind": word, "values": values, "order": ["b", "a"]}


SHORT = tensors(LOGITS)


@pytest.mark.parametrize(
    ("info", "told"),
    [
        pytest.param(b"\0\0\0\0\1", "8 bytes are expected, 5 are left", id="head"),
        pytest.param(struct.pack("<II", 0, 9), "9 bytes are expected, 0 are", id="length"),
        pytest.param(inout_info((0, SHORT[:-1])), "16 bytes are exp.*15 are", id="shape"),
        pytest.param(inout_info((0, SHORT + b"\0")), "1 bytes are left over", id="behind"),
        pytest.param(
            inout_info((0, b"\xff" * 4 + SHORT[4:])), "bytes are expected, 0", id="count"
        ),
        pytest.param(
            inout_info((1, SHORT[:20] + b"\xff" * 4 + SHORT[24:])),
            "4294967295 bytes are expected",
            id="name",
        ),
        pytest.param(
            inout_info((1, SHORT[:24] + b"\x07" + SHORT[25:])),
            "7 bytes are no row",
            id="odd",
        ),
        pytest.param(inout_info((3, struct.pack("<II", 1, 3))), "24 bytes are", id="gear"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(
    inspect: Callable[[bytes], Inspection], info: bytes, told: str
) -> None:
    with pytest.raises(StageError, match=told):
        inspect(made(info))
