"""Syntax of each option: the examples of ATC's documents."""

from __future__ import annotations

from typing import Any

import pytest

from ascendflow.backends.cann.backend import Cann
from ascendflow.manifest.atc_options import SHARED_FILES
from ascendflow.manifest.atc_texts import INLINE, SEPARATORS, text_problems
from ascendflow.manifest.convert import Convert
from tests.unit.manifest.test_atc_options import CANN, INPUTS, problems


@pytest.mark.parametrize(
    "options",
    [
        {"out_nodes": ["a\0b"]},
        {"op_debug_config": "a\x7fb"},
        {"op_select_implmode": "high\x1b", "optypelist_for_implmode": ["A"]},
        {"op_select_implmode": "high_precision", "optypelist_for_implmode": ["A\0"]},
        {"optimization_switch": {"a\0": True}},
        {"fusion_switch_file": {"a\nb": True}},
        {"op_precision_mode": {"a": "high\x9b"}},
        {"customize_dtypes": {"a\0": {"inputs": ["int8"], "outputs": ["int8"]}}},
        {"h2d_overlapped_with_compute": "\0"},
        {"toolkit": "/usr/\0"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_control_characters_are_refused_wherever_they_stand(
    options: dict[str, Any],
) -> None:
    [found] = problems(CANN | options)
    assert "holds a control character, got " in found


def test_no_text_option_lets_a_control_character_through() -> None:
    for name in Convert.model_fields:
        assert [*text_problems({name: "\0"}, [])], name


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"out_nodes": ["b", "a;--x"]}, "1 holds ';'"),
        ({"optimization_switch": {"a:on;b": True}}, "a:on;b holds ':'"),
        ({"optimization_switch": {"a;b": True}}, "a;b holds ';'"),
        ({"fusion_switch_file": {"X:off": True}}, "X:off holds ':'"),
        ({"op_precision_mode": {"a=b": "high_precision"}}, "a=b holds '='"),
        ({"input_hint_shape": {"0:[1];1": [1]}}, "0:[1];1 holds ':'"),
        (
            {"customize_dtypes": {"a::b": {"inputs": ["int8"], "outputs": ["int8"]}}},
            "a::b holds '::'",
        ),
        (
            {
                "customize_dtypes": {
                    "OpType::A:b": {"inputs": ["int8"], "outputs": ["int8"]}
                }
            },
            "OpType::A:b holds ':'",
        ),
        (
            {"op_select_implmode": "high_precision", "optypelist_for_implmode": ["A,B"]},
            "0 holds ','",
        ),
    ],
)
def test_separators_are_refused_by_name(options: dict[str, Any], expected: str) -> None:
    [found] = problems(CANN | options)
    assert found.startswith(f"{expected}, which ends a name for ATC, got ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("[ByOpType]", "begins with '[', as a section does in ATC's file"),
        ("OpType::[x", "begins with '[', as a section does in ATC's file"),
        ("#x", "begins with '#', as a comment does in ATC's file"),
    ],
)
def test_names_that_a_file_would_read_as_no_names(name: str, expected: str) -> None:
    assert problems(CANN | {"op_precision_mode": {name: "y"}}) == [f"{name} {expected}"]


def test_inputs_are_named_once() -> None:
    assert problems(CANN | {"input_fp16_nodes": ["x", "x"]}) == [
        "1 is input_fp16_nodes[0] too, got 'x'"
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"out_nodes": ["--x"]},
        {"optimization_switch": {"--x": True}},
        {"op_debug_config": "--x"},
    ],
)
def test_nothing_begins_as_an_option_does(options: dict[str, Any]) -> None:
    [found] = problems(CANN | options)
    assert found.endswith(" begins with '--', got '--x'")


def test_names_that_do_no_harm_are_taken() -> None:
    half = {"inputs": ["float16"], "outputs": ["float16"]}
    options = {
        "out_nodes": ["Conv_1:0", "output,1", "a--b"],
        "op_precision_mode": {"block 1/Conv[0]:0": "high_precision", "OpType::A": "b"},
        "fusion_switch_file": {"SoftmaxFusionPass": False, "--x y": True},
        "customize_dtypes": {"a:0": half, "OpType::Relu": half},
        "keep_dtype": ["--x", "a;b,c=d"],
    }
    assert problems(CANN | options) == []


def test_what_a_manifest_may_say_the_backend_builds() -> None:
    options = {
        "toolkit": CANN["toolkit"],
        "python": CANN["python"],
        "op_precision_mode": {"block 1/Conv": "high_precision"},
    }
    config = {**CANN, "inputs": INPUTS, "options": options}

    assert Cann().refuse(config) is None
    options["out_nodes"] = ["a b"]
    told = str(Cann().refuse(config))
    assert told.startswith("convert.out_nodes[0] holds a space, got 'a b'\n  hint: ")


def test_tables_name_options() -> None:
    assert {option for option, _ in SEPARATORS} | {*INLINE} <= Convert.model_fields.keys()
    assert SHARED_FILES.keys() < {*INLINE}
