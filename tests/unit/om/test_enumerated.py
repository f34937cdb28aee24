"""Compressed attributes: names and texts through the lists of one model, or of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.errors import StageError
from tests import om_files
from tests.om_files import (
    MODEL_DEF,
    attr,
    compressed_key,
    desc,
    graph,
    model_def,
    op,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ascendflow.documents.inspection import Inspection

CASE = ["index", "mbatch_dynamic_type", "_pred_value_0", "user_designate_shape_order"]


def lists(
    names: list[Any], texts: list[str], flags: list[bool], version: int = 1
) -> dict[Any, Any]:
    return {
        "attr_name_enum": names,
        "attr_value_enum": texts,
        "attrs_use_string_value": flags,
        "om_compress_version": version,
    }


def made(values: Mapping[Any, Any], ops: list[Any]) -> bytes:
    return om_files.om([(MODEL_DEF, model_def([graph("g", ops)], values))])


@pytest.mark.parametrize("index", [0, 1, 126, 127, 128, 127**2 - 1, 127**2, 127**2 + 130])
def test_an_index_of_any_number_of_digits_is_found(
    inspect: Callable[[bytes], Inspection], index: int
) -> None:
    """The digits are the format's own arithmetic, in the independent writer."""
    names = [f"n{i}" for i in range(index)] + ["index"]
    values = lists(names, [], [False] * len(names))
    first = op("last", "Data", {"index": 7}, output_desc=[desc(1, [1])])
    second = op("first", "Data", {compressed_key(index): 3}, output_desc=[desc(1, [1])])

    found = inspect(made(values, [first, second]))

    assert [each["name"] for each in found["inputs"]] == ["first", "last"]


def test_integers_of_a_flagged_name_are_texts_alone_and_in_lists(
    inspect: Callable[[bytes], Inspection],
) -> None:
    values = lists(CASE, ["unused", "b", "a"], [False, False, False, True])
    case = {
        compressed_key(1): 3,
        compressed_key(2): [1, 2],
        compressed_key(3): [2, 1],
    }

    found = inspect(made(values, [op("case", "Case", case)]))

    assert found["om"] is not None
    assert found["om"]["gears"] == {"kind": "dims", "values": [[1, 2]], "order": ["a", "b"]}


def test_attributes_of_the_model_may_be_compressed_too(
    inspect: Callable[[bytes], Inspection],
) -> None:
    values = lists(["soc_version", "scale"], ["Ascend310P3"], [True, False])
    values |= {compressed_key(0): 0, compressed_key(1): 2.0}

    found = inspect(made(values, []))

    assert found["om"] is not None
    assert found["om"]["soc_version"] == "Ascend310P3"
    assert found["om"]["models"][0]["attributes"]["scale"] == 2.0


def test_a_submodels_names_go_through_the_first_models_lists(
    inspect: Callable[[bytes], Inspection],
) -> None:
    """As in GE's own file: its second model names "index" as number 0 of number 0."""
    root = lists(["soc_version", "other"], ["Ascend910B3"], [True, False])
    inner = lists([compressed_key(1).decode(), compressed_key(0).decode()], [], [False] * 2)
    inner[compressed_key(1)] = 0
    models = [
        [(MODEL_DEF, model_def([graph("g", [])], values))] for values in (root, inner)
    ]

    found = inspect(om_files.om(*models))

    assert found["om"] is not None
    assert found["om"]["models"][1]["attributes"]["soc_version"] == "Ascend910B3"


def test_without_a_version_nothing_is_compressed(
    inspect: Callable[[bytes], Inspection],
) -> None:
    values = lists(["a"], [], [])
    del values["om_compress_version"]

    found = inspect(made(values, []))

    assert found["om"] is not None
    assert found["om"]["models"][0]["attributes"] == values


GOOD: dict[Any, Any] = lists(["a", "b"], ["t"], [False, True])


@pytest.mark.parametrize(
    ("values", "told"),
    [
        pytest.param(
            {**GOOD, compressed_key(2): 1}, "name 2 is asked for.*are 2", id="name"
        ),
        pytest.param(
            {**GOOD, compressed_key(1): 1}, "text 1 is asked for.*are 1", id="text"
        ),
        pytest.param(
            {**GOOD, compressed_key(1): -1}, "text -1 is asked for", id="negative"
        ),
        pytest.param({**GOOD, b"\0": 1, b"\0\0": 1}, "is no index", id="zero-digit"),
        pytest.param({**GOOD, b"\0\x80": 1}, "is no index", id="digit-128"),
        pytest.param({**GOOD, b"\0" + b"\1" * 9: 1}, "is no index", id="ten-digits"),
        pytest.param({**lists(["a"], [], [True, True])}, "1 .* have 2 flags", id="flags"),
        pytest.param({b"\0\1": 1}, "no list has the attribute name", id="no-lists"),
        pytest.param({"om_compress_version": 1}, "attr_name_enum is missing", id="missing"),
        pytest.param(
            {**lists(["\0\1"], [], [False]), compressed_key(0): 1},
            "no list has the attribute name",
            id="itself",
        ),
        pytest.param(
            {**lists(["n" * 5000], [], [False]), compressed_key(0): 1},
            "an attribute name has 5000 bytes",
            id="long-name",
        ),
    ],
)
def test_an_index_that_leads_nowhere_is_refused(
    inspect: Callable[[bytes], Inspection], values: Mapping[Any, Any], told: str
) -> None:
    with pytest.raises(StageError, match=told):
        inspect(made(values, []))


def test_flags_that_are_not_packed_are_read_and_others_than_0_and_1_refused(
    inspect: Callable[[bytes], Inspection],
) -> None:
    values = lists(["soc_version"], ["Ascend310"], [True])
    packed = attr([True]).SerializeToString()
    model = model_def([], {**values, compressed_key(0): 0})
    assert model.count(packed) == 1
    loose = packed.replace(b"\x2a\x01\x01", b"\x28\x80\x01")  # b = 128, so true

    found = inspect(om_files.om([(MODEL_DEF, model.replace(packed, loose))]))
    assert found["om"] is not None
    assert found["om"]["soc_version"] == "Ascend310"

    wrong = packed.replace(b"\x2a\x01\x01", b"\x2a\x01\x02")
    with pytest.raises(StageError, match="more than 0 and 1"):
        inspect(om_files.om([(MODEL_DEF, model.replace(packed, wrong))]))
