"""Attributes of every type, as protobuf's own writer spells them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.errors import StageError
from tests import om_files
from tests.om_files import MESSAGE, MODEL_DEF, attr, desc, graph, model_def

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ascendflow.documents.inspection import Inspection

Inspect = "Callable[[bytes], Inspection]"


def told(inspect: Callable[[bytes], Inspection], values: Mapping[Any, Any]) -> Any:
    found = inspect(om_files.om([(MODEL_DEF, model_def([graph("g", [])], values))]))
    assert found["om"] is not None
    return found["om"]["models"][0]["attributes"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "text"),
        ("", ""),
        ("ÄÖ", "ÄÖ"),
        (0, 0),
        (-1, -1),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (0.5, 0.5),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (True, True),
        (False, False),
        ([1, -2, 3 * 2**40], [1, -2, 3 * 2**40]),
        ([0.5, -0.25], [0.5, -0.25]),
        ([True, False], [True, False]),
        (["a", "", "b"], ["a", "", "b"]),
        ([], []),
    ],
)
def test_a_value_is_what_protobuf_wrote(
    inspect: Callable[[bytes], Inspection], value: object, shown: object
) -> None:
    assert told(inspect, {"x": value}) == {"x": shown}


@pytest.mark.parametrize(
    ("value", "kind", "count", "data"),
    [
        pytest.param(b"raw", "bytes", None, b"raw", id="bytes"),
        pytest.param(
            desc(1, [2]), "tensor", None, desc(1, [2]).SerializeToString(), id="tensor"
        ),
        pytest.param(list(range(257)), "list", 257, None, id="long-ints"),
        pytest.param([0.5] * 2000, "list", 2000, None, id="long-floats"),
        pytest.param(["ab"] * 300, "list", 300, None, id="long-texts"),
        pytest.param(["a" * 5000], "list", 1, None, id="one-long-text"),
        pytest.param([b"x", b"y"], "list", 2, None, id="list-of-bytes"),
    ],
)
def test_what_is_not_shown_is_told_by_size_and_digest(
    inspect: Callable[[bytes], Inspection],
    value: object,
    kind: str,
    count: int | None,
    data: bytes | None,
) -> None:
    data = data or attr(value).list.SerializeToString()

    assert told(inspect, {"x": value})["x"] == {
        "type": kind,
        "count": count,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def test_text_that_is_not_utf8_is_spelled_out_and_a_very_long_one_cut(
    inspect: Callable[[bytes], Inspection],
) -> None:
    raw = MESSAGE["AttrDef"](s=b"a\xffb")
    long = MESSAGE["AttrDef"](s=b"a" * 70000)
    model = MESSAGE["ModelDef"](
        attr=[
            MESSAGE["Entry"](key=b"\xfe", value=raw),
            MESSAGE["Entry"](key=b"l", value=long),
        ]
    )
    found = inspect(om_files.om([(MODEL_DEF, model.SerializeToString())]))

    assert found["om"] is not None
    attributes = found["om"]["models"][0]["attributes"]
    assert attributes == {r"\xfe": r"a\xffb", "l": "a" * 65536 + "... (70000 bytes)"}


def test_a_list_that_is_not_packed_is_read_too(
    inspect: Callable[[bytes], Inspection],
) -> None:
    """Any reader of protobuf must: i = 1, i = 2; b = 1; f = 0.5, each by itself."""
    content = b"\x18\x01\x18\x02\x28\x01" + b"\x25" + b"\x00\x00\x00\x3f"
    value = b"\x0a" + bytes([len(content)]) + content
    entry = b"\x0a\x01x\x12" + bytes([len(value)]) + value
    model = b"\x5a" + bytes([len(entry)]) + entry

    found = inspect(om_files.om([(MODEL_DEF, model)]))

    assert found["om"] is not None
    assert found["om"]["models"][0]["attributes"] == {"x": [1, 2, True, 0.5]}


def test_an_attribute_without_a_value_is_null_and_the_last_of_a_name_counts(
    inspect: Callable[[bytes], Inspection],
) -> None:
    entries = [
        MESSAGE["Entry"](key=b"x", value=attr(1)),
        MESSAGE["Entry"](key=b"x", value=attr(2)),
        MESSAGE["Entry"](key=b"y"),
    ]
    model = MESSAGE["ModelDef"](attr=entries).SerializeToString()

    found = inspect(om_files.om([(MODEL_DEF, model)]))

    assert found["om"] is not None
    assert found["om"]["models"][0]["attributes"] == {"x": 2, "y": None}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(b"\x25\x00\x00\x00", "cut short", id="float-cut"),
        pytest.param(b"\x20\x01", "a float has the wire type 0", id="float-as-number"),
        pytest.param(b"\x1d\x00\x00\x00\x00", "a number has the wire type 5", id="number"),
        pytest.param(b"\x0a\x02\x10\x01", "a text has the wire type 0", id="text"),
        pytest.param(b"\x0a\x05\x22\x03abc", "4 bytes are expected, 3 are", id="floats"),
        pytest.param(b"\x0a\x03\x1a\x01\x80", "a number is cut short", id="packed"),
    ],
)
def test_a_value_that_is_none_is_refused(
    inspect: Callable[[bytes], Inspection], value: bytes, message: str
) -> None:
    entry = b"\x0a\x01x\x12" + bytes([len(value)]) + value
    model = b"\x5a" + bytes([len(entry)]) + entry

    with pytest.raises(StageError, match=message):
        inspect(om_files.om([(MODEL_DEF, model)]))


def test_a_name_of_many_bytes_is_refused(inspect: Callable[[bytes], Inspection]) -> None:
    with pytest.raises(StageError, match="a name has 5000 bytes"):
        told(inspect, {"n" * 5000: 1})
