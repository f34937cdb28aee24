"""Codes are those of ATC's own checks; cases are published ones where an id says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.manifest.atc_shapes import shape_problems

ONE = [{"name": "x", "shape": [1, 3, 48, 320]}]
TWO = [{"name": "data", "shape": [8, 3, 416, 416]}, {"name": "info", "shape": [8, 4]}]


def problems(convert: dict[str, Any], inputs: Any = None) -> list[str]:
    block = {"soc_version": "Ascend310P3"} | convert
    found = shape_problems(block, ONE if inputs is None else inputs)
    return [f"{'.'.join(map(str, each.keys))} {each.text}" for each in found]


DIMS = {"input_shape": {"x": [-1, 3, 48, -1]}}


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    (DIMS | {"dynamic_dims": [[1, 320]]}, "dynamic_dims", "E10035"),
    (DIMS | {"dynamic_dims": [[n, 320] for n in range(1, 102)]}, "dims", "E10036"),
    (DIMS | {"dynamic_dims": [[1, 320], [320]]}, "dynamic_dims.1", "E10003"),
    (DIMS | {"dynamic_dims": [[1], [2]]}, "dynamic_dims.0", "E10003"),
    (DIMS | {"dynamic_dims": [[1, 320], [0, 320]]}, "dynamic_dims.1", "E10001"),
    (DIMS | {"dynamic_dims": [[1, 320], [1, 320]]}, "dynamic_dims.1", "E10039"),
    (
        {
            "input_shape": {"x": [1, 3, 48, 320]},
            "dynamic_dims": [[1, 160], [1, 320]],
        },
        "input_shape",
        "E10040",
    ),
    (
        {
            "input_shape": {"x": ["1~8", 3, 48, -1]},
            "dynamic_dims": [[160], [320]],
        },
        "input_shape.x.0",
        "E10040",
    ),
    (
        {"input_shape": {"x": [-1, 3, 48]}, "dynamic_dims": [[1], [2]]},
        "input_shape.x",
        "E10049",
    ),
    (
        DIMS | {"dynamic_dims": [[1, 160], [1, 320]], "dynamic_batch_size": [1, 2]},
        "dynamic_dims",
        "E10009",
    ),
    ({"dynamic_batch_size": [1, 2]}, "dynamic_batch_size", "E10004"),
    (
        {"input_shape": {"x": [1, 3, 48, 320]}, "dynamic_batch_size": [1, 2]},
        "input_shape",
        "E10031",
    ),
    (
        {"input_shape": {"x": [-1, -1, 48, 320]}, "dynamic_batch_size": [1, 2]},
        "input_shape.x.1",
        "E10018",
    ),
    (
        {"input_shape": {"x": [-1, 3, 48, 320]}, "dynamic_batch_size": [1, 0]},
        "dynamic_batch_size.1",
        "E10038",
    ),
    (
        {
            "input_shape": {"x": [-1, 3, -1, -1]},
            "dynamic_image_size": [[48, 320], [96, 640]],
        },
        "input_shape.x",
        "E10019",
    ),
    (
        {
            "input_shape": {"x": [1, 3, -1, -1]},
            "dynamic_image_size": [[48, 320], [96]],
        },
        "dynamic_image_size.1",
        "E10020",
    ),
    (
        {
            "input_format": "ND",
            "input_shape": {"x": [1, 3, -1, -1]},
            "dynamic_image_size": [[48, 320], [96, 640]],
        },
        "dynamic_image_size",
        "E10003",
    ),
    (
        DIMS | {"dynamic_dims": [[1, 160], [1, 320]], "insert_op_conf": "a"},
        "dynamic_dims",
        "E10001",
    ),
    ({"dynamic_dims": [[1, 2], [3]]}, "dynamic_dims", "E10037"),
    ({"input_shape": {"y": [1]}}, "input_shape.y", "E10016"),
]


@pytest.mark.parametrize(
    "convert",
    [
        pytest.param({}, id="static, by inputs"),
        pytest.param({"input_shape": {"x": [1, 3, 48, 320]}}, id="static, spelled out"),
        pytest.param(
            DIMS | {"dynamic_dims": [[1, 160], [1, 320], [8, 320]]},
            id="several inputs open",
        ),
        pytest.param(
            {"input_shape": {"x": [-1, 3, 48, 320]}, "dynamic_batch_size": [1, 2, 4]},
            id="batches",
        ),
        pytest.param(
            {
                "input_shape": {"x": [1, 3, -1, -1]},
                "dynamic_image_size": [[48, 320], [96, 640]],
            },
            id="images",
        ),
        pytest.param({"dynamic_shape": True, **DIMS}, id="dynamic"),
        pytest.param(
            {"dynamic_shape": True, "input_shape": {"x": ["1~4", 3, 48, 320]}}, id="range"
        ),
        pytest.param(
            DIMS
            | {
                "soc_version": "Ascend910_9599",
                "dynamic_dims": [[n, 320] for n in range(1, 257)],
            },
            id="256 gears on 950",
        ),
    ],
)
def test_what_atc_takes_is_no_problem(convert: dict[str, Any]) -> None:
    assert problems(convert) == []


@pytest.mark.parametrize(("convert", "where", "code"), MISTAKES)
def test_mistake_is_told_with_atcs_code(
    convert: dict[str, Any], where: str, code: str
) -> None:
    found = problems(convert)

    assert any(where in each and f"({code})" in each for each in found), found


@pytest.mark.parametrize("size", [-1, "16~640"])
def test_dynamic_model_must_be_asked_for(size: int | str) -> None:
    opened = {"input_shape": {"x": [1, 3, 48, size]}}

    assert "without gears or dynamic_shape" in problems(opened)[0]
    assert problems(opened | {"dynamic_shape": True}) == []
    assert problems({"dynamic_shape": True}) == [
        "convert.dynamic_shape is true, and no size of input_shape is open"
    ]
    assert "without dynamic_shape" in problems({"input_shape_range": {"x": [1]}})[0]


def test_samples_must_fit_a_gear_and_every_fixed_size() -> None:
    gears = DIMS | {"dynamic_dims": [[1, 160], [8, 320]]}
    assert problems(gears) == [
        "convert.dynamic_dims has no gear for the shapes of `inputs`, open at [1, 320]"
    ]
    assert problems({"input_shape": {"x": [2, 3, 48, 320]}}) == [
        "convert.input_shape.x.0 is 2, and inputs[0].shape[0] is 1"
    ]
    narrow = {"dynamic_shape": True, "input_shape": {"x": [1, 3, 48, "1~64"]}}
    assert problems(narrow) == [
        "convert.input_shape.x.3 is '1~64', and inputs[0].shape[3] is 320"
    ]


def test_ranges_are_not_for_310b() -> None:
    convert = {
        "soc_version": "Ascend310B1",
        "dynamic_shape": True,
        "input_shape": {"x": ["1~4", 3, 48, 320]},
        "input_shape_range": {},
    }

    assert sum("which Ascend310B1 does not take" in each for each in problems(convert)) == 2


def test_empty_input_is_refused() -> None:
    found = problems({}, [{"name": "x", "shape": [1, 0]}])

    assert found == [
        "inputs.0.shape has a size of 0, got [1, 0], and ATC wants 1 or more (E10011)"
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = ("input_shape", "input_shape_range", "dynamic_batch_size", "dynamic_image_size")


@given(
    st.dictionaries(st.sampled_from([*KEYS, "dynamic_dims", "input_format"]), JSON), JSON
)
def test_no_data_makes_it_raise(convert: dict[str, Any], inputs: Any) -> None:
    given_ = {key: value for key, value in convert.items() if value is not None}

    assert isinstance(problems(given_, [inputs] if inputs is None else inputs), list)
