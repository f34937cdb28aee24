"""Tables of partitions: both widths, padding, and every byte that belongs to none."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import StageError
from tests import om_files
from tests.om_files import KERNELS, MODEL_DEF, WEIGHTS, graph, model_def

if TYPE_CHECKING:
    from collections.abc import Callable

    from ascendflow.documents.inspection import Inspection

SMALL = (MODEL_DEF, model_def([graph("g", [])], {}))


def accounted(found: Inspection) -> int:
    assert found["om"] is not None
    total = 256
    for model in found["om"]["models"]:
        total += model["table_size"] + model["padding"]
        total += sum(part["size"] for part in model["partitions"])
    return total


@pytest.mark.parametrize("wide", [True, False], ids=["64-bit", "32-bit"])
def test_partitions_are_found_in_tables_of_both_widths(
    inspect: Callable[[bytes], Inspection], wide: bool
) -> None:
    parts = [SMALL, (WEIGHTS, b"ww"), (KERNELS, b"kkk")]
    content = om_files.om(parts, parts, wide=wide)

    found = inspect(content)

    assert found["om"] is not None
    assert found["om"]["header"]["wide"] == wide
    assert [m["table_size"] for m in found["om"]["models"]] == [80 if wide else 40] * 2
    for model in found["om"]["models"]:
        for part, (_, data) in zip(model["partitions"], parts, strict=True):
            assert content[part["offset"] : part["offset"] + part["size"]] == data
    assert accounted(found) == found["size"] == len(content)


@pytest.mark.parametrize("align", [8, 32, 512])
def test_padding_is_counted_as_such(
    inspect: Callable[[bytes], Inspection], align: int
) -> None:
    found = inspect(om_files.om([SMALL, (WEIGHTS, b"ww")], align=align))

    assert found["om"] is not None
    assert found["om"]["models"][0]["padding"] > 0
    assert accounted(found) == found["size"]


def test_a_type_without_a_name_is_shown_by_its_number(
    inspect: Callable[[bytes], Inspection],
) -> None:
    found = inspect(om_files.om([SMALL, (99, b"?")]))

    assert found["om"] is not None
    assert found["om"]["models"][0]["partitions"][1]["type"] == "unknown (99)"


def changed(offset: int, layout: str, value: int) -> bytes:
    content = bytearray(om_files.om([SMALL, (WEIGHTS, b"wwww")]))
    struct.pack_into(layout, content, offset, value)
    return bytes(content)


FIRST = 256 + 8
SECOND = FIRST + 24
LENGTH = len(SMALL[1])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(changed(256, "<I", 0), "0 partitions, not 1 to 4096", id="none"),
        pytest.param(changed(256, "<I", 4097), "4097 partitions", id="too-many"),
        pytest.param(
            changed(SECOND + 16, "<Q", 5),
            r"ends at byte \d+, but the model at",
            id="beyond",
        ),
        pytest.param(
            changed(SECOND + 8, "<Q", LENGTH - 1), "the one before ends at", id="overlap"
        ),
        pytest.param(changed(SECOND + 8, "<Q", 2**64 - 1), "ends at byte", id="wrapping"),
        pytest.param(changed(FIRST + 16, "<Q", 1), "belong to no partition", id="gap"),
        pytest.param(changed(SECOND + 16, "<Q", 3), "1 bytes belong to no", id="left-over"),
        pytest.param(changed(156, "<I", 2), "bytes are expected, 0 are left", id="models"),
        pytest.param(changed(FIRST, "<I", 2), "a table has no MODEL_DEF", id="no-model"),
        pytest.param(
            om_files.om([SMALL, (WEIGHTS, b"w")], align=1024),
            "bytes belong to no partition",
            id="much-padding",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused(
    inspect: Callable[[bytes], Inspection], content: bytes, told: str
) -> None:
    with pytest.raises(StageError, match=told) as raised:
        inspect(content)
    assert f" of {len(content)})" in raised.value.message
