"""protobuf's wire format, held against what protobuf itself writes and refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.wire import LENGTH, NUMBER, MalformedError, signed, varint, walk
from tests.om_files import MESSAGE, attr, op

if TYPE_CHECKING:
    from collections.abc import Callable


def test_fields_are_found_where_protobuf_wrote_them() -> None:
    data = op("conv", "Conv2D", {"a": -1}, id=300).SerializeToString()

    found = list(walk(data, 0, len(data)))

    assert [field.number for field in found] == [1, 2, 10, 21]
    assert [data[f.content : f.stop] for f in found[:2]] == [b"conv", b"Conv2D"]
    assert (found[3].wire, found[3].value) == (NUMBER, 300)
    assert found[0].wire == LENGTH
    assert [each.start for each in found] == [0, *(each.stop for each in found[:-1])]


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_what_protobuf_wrote(value: int) -> None:
    data = attr(value).SerializeToString()

    (field,) = walk(data, 0, len(data))
    assert signed(field.value) == value


def test_floats_and_unknown_fixed_fields_are_passed_over() -> None:
    data = attr(0.5).SerializeToString() + b"\x09" + b"12345678"

    assert [(f.number, f.stop - f.content) for f in walk(data, 0, len(data))] == [
        (4, 4),
        (1, 8),
    ]


@pytest.mark.parametrize(
    ("data", "offset", "told"),
    [
        pytest.param(b"\x00\x01", 0, "the number 0", id="number-0"),
        pytest.param(b"\x08\x01\x0b", 2, "wire type 3", id="group"),
        pytest.param(b"\x08\x01\x12\x05ab", 2, "5 bytes is cut short: 2 are", id="length"),
        pytest.param(b"\x0d\x01\x02", 0, "4 bytes is cut short: 2 are", id="fixed"),
        pytest.param(b"\x08\x80", 1, "a number is cut short", id="number"),
        pytest.param(b"\x08" + b"\xff" * 10 + b"\x01", 1, "cut short", id="endless"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(
    data: bytes, offset: int, told: str
) -> None:
    with pytest.raises(MalformedError, match=told) as raised:
        list(walk(data, 0, len(data)))
    assert raised.value.offset == offset


def test_a_field_may_not_reach_beyond_its_message() -> None:
    with pytest.raises(MalformedError, match="3 bytes is cut short: 2 are left"):
        list(walk(b"\x0a\x03abcdef", 0, 4))
    with pytest.raises(MalformedError):
        varint(b"\x80\x01", 0, 1)


@given(st.binary(max_size=40))
def test_what_protobuf_reads_can_be_walked(data: bytes) -> None:
    """Not the other way round: protobuf looks into messages, and drops end-group tags."""
    read: Callable[[bytes], Any] = MESSAGE["ShapeDef"].FromString
    try:
        read(data)
    except DecodeError:
        return
    if not any(byte & 7 in (3, 4) for byte in data):  # groups, which no OM has
        list(walk(data, 0, len(data)))
