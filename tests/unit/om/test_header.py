"""The header: each field where the layout has it, and every length that is not so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import StageError
from tests import om_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from ascendflow.documents.inspection import Inspection


def test_every_field_stands_at_its_place(inspect: Callable[[bytes], Inspection]) -> None:
    made = bytearray(om_files.static(name="det", unknown=1, host=1))
    made[12:14] = b"\xab\xcd"
    made[81], made[83] = 1, 1
    made[116:120] = (7).to_bytes(4, "little")
    made[120:125] = b"me\0xx"
    made[152:156] = (9).to_bytes(4, "little")
    made[160:163], made[180], made[200] = b"8.1", 4, 0xEE

    found = inspect(bytes(made))

    assert found["om"] is not None
    header = found["om"]["header"]
    assert header.pop("checksum") == "abcd" + "00" * 62  # type: ignore[misc]
    assert header.pop("reserved") == "00" * 6 + "ee" + "00" * 55  # type: ignore[misc]
    assert header == {
        "version": "0x20000000",
        "model_type": "IR",
        "model_type_number": 0,
        "model_num": 1,
        "wide": True,
        "name": "det",
        "is_checksum": 1,
        "genmode": 1,
        "ops": 7,
        "userdefineinfo": "me",
        "om_ir_version": 9,
        "platform_version": "8.1",
        "platform_type": 4,
        "need_check_os_cpu_info": 1,
        "is_unknow_model": 1,
    }


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(b"PK\x03\x04" + bytes(300), r"begins with b'PK\\x03\\x04'", id="zip"),
        pytest.param(b"IMOD", "256 bytes are expected, 4 are left", id="4-bytes"),
        pytest.param(b"I", "begins with b'I', not b'IMOD'", id="1-byte"),
        pytest.param(om_files.static(encrypted=1), r"encrypted.*\(byte 80", id="encrypted"),
        pytest.param(om_files.static(head_size=128), "128 bytes, not 256", id="head-size"),
        pytest.param(
            om_files.static()[:-1],
            "says 728 bytes behind its header, there are 727",
            id="cut",
        ),
        pytest.param(
            om_files.static() + b"\0", "too long.*728 bytes.*are 729", id="appended"
        ),
        pytest.param(
            om_files.bundle(om_files.static())[:-1],
            "cut short: the header says 1304 bytes in all, there are 1303",
            id="bundle-cut",
        ),
    ],
)
def test_what_is_no_whole_om_is_refused_with_both_values(
    inspect: Callable[[bytes], Inspection], content: bytes, told: str
) -> None:
    with pytest.raises(StageError, match=told) as raised:
        inspect(content)
    assert f"of {len(content)})" in raised.value.message


def test_numbers_that_no_source_names_are_shown_as_they_are(
    inspect: Callable[[bytes], Inspection],
) -> None:
    found = inspect(om_files.static(kind=9))

    assert found["om"] is not None
    assert found["om"]["header"]["model_type"] == "unknown (9)"
