"""Spellings are those of ATC's documents."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from ascendflow.backends.cann.arguments import FLAGS, NO_FLAGS, Paths, arguments
from ascendflow.errors import StageError
from ascendflow.manifest.convert import Convert
from tests import toolkits
from tests.unit.manifest.test_atc_shapes import MISTAKES, problems

INPUTS = [
    {"name": "data", "dtype": "float32", "shape": [8, 3, 416, 416]},
    {"name": "scale", "dtype": "float32", "shape": []},
]


PLAIN = Paths()


def spelled(paths: Paths = PLAIN, **options: Any) -> dict[str, str]:
    made = arguments(config(**options), paths)
    return dict(each.removeprefix("--").split("=", 1) for each in made)


def config(**options: Any) -> dict[str, Any]:
    return {
        "soc_version": "Ascend310P3",
        "precision_mode": "force_fp16",
        "inputs": INPUTS,
        "options": {"toolkit": "/cann", "python": "/usr/bin/python3", **options},
    }


def test_static_model_in_full() -> None:
    assert arguments(config(), Paths()) == [
        "--mode=0",
        "--model=model.onnx",
        "--framework=5",
        "--input_shape=data:8,3,416,416;scale:",
        "--output=model/model",
        "--soc_version=Ascend310P3",
        "--precision_mode=force_fp16",
        "--op_compiler_cache_mode=disable",
        "--op_compiler_cache_dir=cache",
        "--debug_dir=kernel_meta",
    ]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("input_shape", {"data": [8, 3, -1, -1], "info": [8]}, "data:8,3,-1,-1;info:8"),
        ("input_shape_range", {"n": ["1~4", 3]}, "n:[1~4,3]"),
        ("input_hint_shape", {"0": [1, 3], "1": [2]}, "0:[1,3];1:[2]"),
        ("dynamic_batch_size", [1, 2, 4], "1,2,4"),
        ("dynamic_image_size", [[416, 416], [832, 832]], "416,416;832,832"),
        ("dynamic_dims", [[20, 20, 1, 1], [40, 40, 2, 2]], "20,20,1,1;40,40,2,2"),
        ("dynamic_dims", [[4], [8], [16]], "4;8;16"),
        ("input_fp16_nodes", ["a", "b"], "a;b"),
        ("is_input_adjust_hw_layout", [True, False], "true,false"),
        ("output_type", "FP16", "FP16"),
        ("output_type", {"n1:0": "FP16", "n2:0": "FP32"}, "n1:0:FP16;n2:0:FP32"),
        ("out_nodes", ["node:0", "node2:1"], "node:0;node2:1"),
        ("aicore_num", "4|2", "4|2"),
        ("external_weight", 1, "1"),
        ("deterministic", True, "1"),
        ("enable_single_stream", False, "false"),
        ("optimization_switch", {"Pass": True, "Pass2": False}, "Pass:on;Pass2:off"),
        ("op_compiler_cache_mode", "force", "force"),
        ("oo_constant_folding", False, "false"),
        ("oo_dead_code_elimination", True, "true"),
        ("mode", 30, "30"),
    ],
)
def test_value_is_spelled_as_atc_reads_it(name: str, value: Any, text: str) -> None:
    assert spelled(**{name: value})[name] == text


def test_settings_that_every_backend_reads() -> None:
    given = config() | {
        "precision_mode": "mixed_hif8",
        "op_select_implmode": "high_precision",
        "optypelist_for_implmode": ["Gelu", "Pow"],
        "is_weight_clip": False,
    }
    made = arguments(given, Paths())

    assert "--precision_mode_v2=mixed_hif8" in made
    assert not any(each.startswith("--precision_mode=") for each in made)
    assert "--op_select_implmode=high_precision" in made
    assert "--optypelist_for_implmode=Gelu,Pow" in made
    assert "--is_weight_clip=0" in made


def test_files_are_named_by_where_they_were_put() -> None:
    paths = Paths(files={"keep_dtype": "options/keep.cfg", "insert_op_conf": "options/a"})

    made = spelled(paths, insert_op_conf="../aipp.cfg")

    assert made["keep_dtype"] == "options/keep.cfg"
    assert made["insert_op_conf"] == "options/a"


def test_what_ascendflow_sets_no_option_changes() -> None:
    made = spelled(model="other.onnx", output="/else", framework=3, debug_dir="/other")

    assert made["model"] == "model.onnx"
    assert made["output"] == "model/model"
    assert made["framework"] == "5"
    assert made["debug_dir"] == "kernel_meta"


def test_gears_come_with_their_layout() -> None:
    assert spelled(dynamic_image_size=[[1, 2], [3, 4]])["input_format"] == "NCHW"
    assert spelled(dynamic_dims=[[1], [2]])["input_format"] == "ND"
    assert spelled(dynamic_dims=[[1], [2]], input_format="NCHW")["input_format"] == "NCHW"
    assert "input_format" not in spelled(dynamic_batch_size=[1, 2])


def test_ranges_of_their_own_leave_input_shape_out() -> None:
    assert "input_shape" not in spelled(input_shape_range={"data": [-1]})


def test_order_is_that_of_the_table_whatever_the_manifest_has() -> None:
    forwards = arguments(config(log="info", core_type="AiCore"), Paths())
    backwards = arguments(config(core_type="AiCore", log="info"), Paths())
    names = [each[2:].partition("=")[0] for each in forwards]

    assert forwards == backwards
    assert names == [name for name, _ in FLAGS if name in names]


def test_every_key_of_the_manifest_has_a_spelling_and_none_is_left() -> None:
    ours = {"model", "framework", "output", "op_compiler_cache_dir", "debug_dir"}
    elsewhere = {"backend", "cann", *NO_FLAGS}

    assert {name for name, _ in FLAGS} == {*Convert.model_fields} - elsewhere | ours


@pytest.mark.parametrize(
    "model", ["a b.onnx", "a+b", "a@b", "a:b", "a(b)", "", "a\nb", "é.onnx", "a=b"]
)
def test_path_of_other_characters_is_refused(model: str) -> None:
    with pytest.raises(StageError, match=r"ATC refuses --model=.*E10001"):
        arguments(config(), Paths(model=model))


def test_chinese_path_is_taken() -> None:
    assert spelled(Paths(model="模型/v1-a_b.onnx"))["model"] == "模型/v1-a_b.onnx"


@pytest.mark.parametrize(
    ("output", "match"),
    [
        ("model/", "E10022"),
        ("model/..", "E10022"),
        ("a" * 4096, "E10021"),
        ("my.omega/model", r"'\.om' in a folder's name"),
    ],
)
def test_output_that_atc_cannot_write_is_refused(output: str, match: str) -> None:
    with pytest.raises(StageError, match=match):
        arguments(config(), Paths(output=output))


STANDIN = runpy.run_path(str(Path(toolkits.__file__).parent / "standin" / "atc.py"))
RANKS = {"x": 4}
"""Of the model's inputs, which the stand-in does not read."""


def refused_for_the_model(input_shape: str) -> str | None:
    """Return the code for what ATC holds against the model: names, then dimensions."""
    for name, sizes in STANDIN["shapes_of"](input_shape).items():
        if name not in RANKS:
            return "E10016"
        if len(sizes) != RANKS[name]:
            return "E10049"
    return None


@pytest.mark.parametrize(("convert", "where", "code"), MISTAKES)
def test_what_the_manifest_refuses_atc_would_refuse_with_a_code_that_is_told(
    convert: dict[str, Any], where: str, code: str
) -> None:
    del where
    files = {"insert_op_conf": "options/aipp"} if "insert_op_conf" in convert else {}
    inputs = [{"name": "x", "dtype": "float32", "shape": [1, 3, 48, 320]}]
    options = {key: value for key, value in convert.items() if key != "soc_version"}
    given = config(**options) | {"inputs": inputs}
    if "input_shape" not in convert:
        given["options"]["input_shape"] = {}
    made = arguments(given, Paths(files=files))
    told = " ".join(problems(convert))

    values = dict(each[2:].split("=", 1) for each in made)
    found = {STANDIN["wrong_shapes"](values)}
    if values["input_shape"]:
        found.add(refused_for_the_model(values["input_shape"]))

    # ATC tells one mistake, and not always that of the row.
    assert found != {None}
    assert all(f"({each})" in told for each in found - {None})
    assert code in found or code not in {"E10016", "E10049"}
