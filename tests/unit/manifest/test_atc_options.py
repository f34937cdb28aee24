"""Codes are those of ATC's own checks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.manifest.atc_options import NOT_TAKEN, atc_options
from ascendflow.manifest.convert import Convert
from tests.unit.manifest.test_atc_shapes import JSON

CANN = {
    "backend": "cann",
    "soc_version": "Ascend310P3",
    "toolkit": "/usr/local/Ascend",
    "python": "/usr/bin/python3",
}
INPUTS = [{"name": "x", "shape": [1, 3]}]


def problems(convert: dict[str, Any], inputs: Any = None) -> list[str]:
    data = {"convert": convert, "inputs": INPUTS if inputs is None else inputs}
    return [f"{each.keys[-1]} {each.text}" for each in atc_options(data)]


def test_blocks_that_hold_have_no_problem() -> None:
    assert problems(CANN) == []
    assert problems({"cann": "8.1", "soc_version": "Ascend310P3"}) == []
    assert problems({"keep_dtype": ["a b"], "modify_mixlist": {"white": ["Exp"]}}) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"soc_version": "Ascend035"}, "mode must be 30 for Ascend035, got 0 (E10055)"),
        ({"mode": 30}, "mode must be 0 for Ascend310P3, got 30 (E10055)"),
        ({"mode": 1}, "mode must be 0 or 30, got 1 (E10001)"),
        (
            {"enable_compress_weight": True, "compress_weight_conf": "a.cfg"},
            "compress_weight_conf stands beside enable_compress_weight (E10047)",
        ),
        (
            {"output_type": {"Conv_1:0": "FP16"}},
            "output_type names outputs, and out_nodes does not",
        ),
        (
            {"output_type": {"Conv_1:0": "FP16"}, "out_nodes": ["Conv_2:0"]},
            "Conv_1:0 is not in out_nodes",
        ),
        (
            {"insert_op_conf": "aipp.cfg", "input_format": "ND"},
            "input_format must be NCHW beside insert_op_conf, got 'ND' (E10001)",
        ),
        (
            {"insert_op_conf": "aipp.cfg", "input_fp16_nodes": ["x"]},
            "0 is prepared by insert_op_conf, which makes it uint8 (E10034)",
        ),
        ({"input_fp16_nodes": ["y"]}, "0 is no input's name, got 'y' (E10017)"),
        (
            {"op_precision_mode": {"a": "high_precision"}, "op_select_implmode": "b"},
            "op_select_implmode stands beside op_precision_mode, and ATC would not read it",
        ),
        (
            {"host_env_os": "linux"},
            "host_env_os is for models of dynamic shape, and ATC would not read it",
        ),
        (
            {"modify_mixlist": {"gray": ["Exp"]}},
            "gray cannot be written for ATC: it takes names off the list that they are on",
        ),
        (
            {"customize_dtypes": {"a": {"inputs": [None], "outputs": ["float32"]}}},
            "inputs must name each type: ATC takes none for any",
        ),
        (
            {"op_precision_mode": {"a=b": "high_precision"}},
            "a=b holds '=', which ends a name for ATC, got 'a=b'",
        ),
        (
            {"fusion_switch_file": {"ALL": False, "SoftmaxFusionPass": True}},
            "ALL stands beside single passes, whose kind ATC must be told",
        ),
        ({"out_nodes": ["a b"]}, "0 holds a space, got 'a b'"),
        (
            {"cann": "8.5.0", "external_weight": 2},
            "external_weight is 2, which is of CANN 9.0 and later, not 8.5.0",
        ),
        (
            {"cann": "8.1.RC1", "enable_attr_compression": False},
            "enable_attr_compression is of CANN 9.0 and later, not 8.1.RC1",
        ),
        ({"out_nodes": ["a:0", "b:0", "a:0"]}, "2 is out_nodes[0] too, got 'a:0'"),
        ({"keep_dtype": ["a\nb"]}, "0 holds a control character, got 'a\\nb'"),
        ({"raw_ge_options": "a b.json"}, "raw_ge_options holds a space, got 'a b.json'"),
    ],
)
def test_what_atc_refuses_is_told(options: dict[str, Any], expected: str) -> None:
    assert problems(CANN | options) == [expected]


def test_names_with_spaces_may_stand_in_files_but_not_in_arguments() -> None:
    assert problems(CANN | {"keep_dtype": ["block 1/Conv"]}) == []
    assert problems(CANN, [{"name": "a b", "shape": [1]}]) == [
        "name holds a space, got 'a b'"
    ]


def test_toolkit_and_python_are_needed() -> None:
    assert problems({"backend": "cann"}) == ["toolkit is missing", "python is missing"]


def test_emulator_reads_no_file() -> None:
    assert problems({"keep_dtype": "keep.cfg"}) == [
        "keep_dtype is a file, which backend: cann only reads; the backend is 'emulator'"
    ]


def test_no_option_is_both_taken_and_not() -> None:
    assert not NOT_TAKEN.keys() & Convert.model_fields.keys()


@given(st.dictionaries(st.sampled_from(list(Convert.model_fields)), JSON), JSON)
def test_no_data_makes_it_raise(convert: dict[str, Any], inputs: Any) -> None:
    assert isinstance(problems({"backend": "cann", **convert}, inputs), list)
    assert isinstance(problems(convert, inputs), list)
