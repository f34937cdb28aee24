"""Texts are the examples of ATC's documents."""

from __future__ import annotations

import configparser
import json
from typing import Any

from ascendflow.backends.cann.option_files import option_files


def written(**given: Any) -> dict[str, tuple[str, str]]:
    shared: dict[str, Any] = {
        "keep_dtype": [],
        "modify_mixlist": None,
        "customize_dtypes": {},
    }
    options = {key: given.pop(key) for key in [*given] if key not in shared}
    return option_files({**shared, **given, "options": options})


def test_nothing_given_writes_nothing() -> None:
    assert written() == {}
    assert written(op_precision_mode="ours.ini") == {}


def test_keep_dtype_has_a_name_on_each_line() -> None:
    made = written(keep_dtype=["block 1/Conv", "OpType::Relu"])

    assert made == {"keep_dtype": ("keep_dtype.cfg", "block 1/Conv\nOpType::Relu\n")}


def test_mixlist_adds_to_black_and_white() -> None:
    _, text = written(
        modify_mixlist={"white": ["OpTypeD"], "gray": [], "black": ["OpTypeB"]}
    )["modify_mixlist"]

    assert json.loads(text) == {
        "black-list": {"to-add": ["OpTypeB"]},
        "white-list": {"to-add": ["OpTypeD"]},
    }


def test_customised_types_by_name_and_by_operator() -> None:
    half = {"inputs": ["float16"], "outputs": ["int8"]}
    _, text = written(customize_dtypes={"fp32_vars/Relu": half, "OpType::Relu": half})[
        "customize_dtypes"
    ]

    assert text == (
        "fp32_vars/Relu::InputDtype:float16,OutputDtype:int8\n"
        "OpType::Relu:InputDtype:float16,OutputDtype:int8\n"
    )


def test_precision_modes_stand_in_sections() -> None:
    _, text = written(
        op_precision_mode={
            "OpType::optype1": "high_precision",
            "nodename1": "support_out_of_bound_index",
        }
    )["op_precision_mode"]
    read = configparser.ConfigParser()
    read.read_string(text)

    assert {name: dict(read[name]) for name in read.sections()} == {
        "ByOpType": {"optype1": "high_precision"},
        "ByNodeName": {"nodename1": "support_out_of_bound_index"},
    }


def test_fusion_switches_one_by_one_and_all_at_once() -> None:
    _, text = written(fusion_switch_file={"xxxFusionPass": False, "yyy": True})[
        "fusion_switch_file"
    ]
    assert text == "xxxFusionPass:off\nyyy:on\n"

    _, everything = written(fusion_switch_file={"ALL": False})["fusion_switch_file"]
    assert json.loads(everything) == {
        "Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}
    }
