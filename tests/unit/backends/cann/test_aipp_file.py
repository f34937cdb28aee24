"""What is written is read back by protobuf, with the fields of GE's insert_op.proto."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    text_format,
)

from ascendflow.backends.cann.aipp_file import aipp_text
from ascendflow.backends.cann.option_files import option_files
from ascendflow.manifest.aipp import Aipp
from tests.unit.manifest.test_aipp_rules import FULL, MATRIX

if TYPE_CHECKING:
    from pathlib import Path

X = {"name": "x", "dtype": "float32", "shape": [1, 3, 4, 8]}
IDS = {"name": "ids", "dtype": "int64", "shape": [1, 4]}
FORMATS = ("UNDEFINED", "YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8")
MODES = ("undefined", "static", "dynamic")
SWITCHES = ("csc_switch", "rbuv_swap_switch", "ax_swap_switch", "crop", "padding")
INTEGERS = (
    "related_input_rank",
    *("src_image_size_w", "src_image_size_h", "load_start_pos_w", "load_start_pos_h"),
    *("crop_size_w", "crop_size_h", "left_padding_size", "right_padding_size"),
    *("top_padding_size", "bottom_padding_size"),
    *(f"mean_chn_{n}" for n in range(4)),
)
FLOATS = ("padding_value", *(f"min_chn_{n}" for n in range(4)))
LISTS = (
    *(f"matrix_r{row}c{column}" for row in range(3) for column in range(3)),
    *(f"{side}_bias_{n}" for side in ("input", "output") for n in range(3)),
)
FACTORS = tuple(f"var_reci_chn_{n}" for n in range(4))


def _message() -> Any:
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="a.proto", package="a", syntax="proto3")
    params = file.message_type.add(name="AippOpParams")
    names = {
        **dict.fromkeys(SWITCHES, (kinds.TYPE_BOOL, 1)),
        **dict.fromkeys(INTEGERS, (kinds.TYPE_INT32, 1)),
        **dict.fromkeys(FLOATS, (kinds.TYPE_FLOAT, 1)),
        **dict.fromkeys(LISTS, (kinds.TYPE_INT32, 3)),
        **dict.fromkeys(FACTORS, (kinds.TYPE_FLOAT, 3)),
    }
    for enum, values in (("InputFormat", FORMATS), ("AippMode", MODES)):
        made = params.enum_type.add(name=enum)
        for number, value in enumerate(values):
            made.value.add(name=value, number=number)
    for number, (name, (kind, label)) in enumerate(names.items(), start=10):
        params.field.add(name=name, number=number, type=kind, label=label)
    for number, (name, enum) in enumerate(
        (("input_format", "InputFormat"), ("aipp_mode", "AippMode")), start=1
    ):
        kind = f".a.AippOpParams.{enum}"
        params.field.add(name=name, number=number, type=14, label=1, type_name=kind)
    whole = file.message_type.add(name="InsertNewOps")
    whole.field.add(name="aipp_op", number=1, type=11, label=3, type_name=".a.AippOpParams")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("a.InsertNewOps"))


MESSAGE = _message()


def read(text: str) -> Any:
    return text_format.Parse(text, MESSAGE()).aipp_op


def dumped(block: dict[str, Any]) -> dict[str, Any]:
    return Aipp.model_validate(block).model_dump(mode="json", exclude_none=True)


def test_every_step_is_written_as_ge_reads_it() -> None:
    (op,) = read(aipp_text({"x": dumped(FULL)}, [IDS, X]))

    assert (MODES[op.aipp_mode], FORMATS[op.input_format]) == ("static", "XRGB8888_U8")
    assert op.related_input_rank == 1
    assert (op.src_image_size_h, op.src_image_size_w) == (6, 12)
    assert (op.rbuv_swap_switch, op.ax_swap_switch) == (True, True)
    assert (op.crop, op.load_start_pos_h, op.load_start_pos_w) == (True, 1, 2)
    assert (op.crop_size_h, op.crop_size_w) == (3, 5)
    assert op.csc_switch
    assert [
        [list(getattr(op, f"matrix_r{row}c{column}")) for column in range(3)]
        for row in range(3)
    ] == [[[factor] for factor in row] for row in MATRIX]
    assert [list(getattr(op, f"output_bias_{n}")) for n in range(3)] == [[0], [128], [128]]
    assert [getattr(op, f"min_chn_{n}") for n in range(3)] == pytest.approx(FULL["mean"])
    assert [op.var_reci_chn_0[0], op.var_reci_chn_2[0]] == pytest.approx([0.0171, 0.0174])
    assert (op.padding, op.padding_value) == (True, -1.5)
    assert (op.left_padding_size, op.right_padding_size) == (1, 2)
    assert (op.top_padding_size, op.bottom_padding_size) == (1, 0)


def test_published_recipe_says_the_same(shared: Path) -> None:
    """IO01: what recipes write by hand is what the manifest's block becomes."""
    by_hand = (shared / "cases" / "IO01" / "aipp.cfg").read_text()
    block = {
        "input_format": "RGB888_U8",
        "src_image_size": [4, 4],
        "mean": [123.675, 116.28, 103.53],
        "scale": [0.0171247538, 0.0175070028, 0.0174291938],
    }
    (ours,) = read(aipp_text({"x": dumped(block)}, [X]))

    assert [ours] == list(read(by_hand))


def test_what_is_not_said_does_nothing() -> None:
    (op,) = read(aipp_text({"x": dumped({"input_format": "RGB888_U8"})}, [X]))

    assert not any(getattr(op, name) for name in SWITCHES)
    assert [list(getattr(op, name)) for name in FACTORS] == [[1.0], [1.0], [1.0], []]
    assert all(getattr(op, name) == 0 for name in INTEGERS)


def test_file_is_one_of_those_that_atc_is_given() -> None:
    config = {
        "inputs": [X],
        "options": {"aipp": {"x": dumped({"input_format": "RGB888_U8"})}},
    }

    name, text = option_files(config)["insert_op_conf"]
    assert name == "insert_op_conf.cfg"
    assert text.startswith("aipp_op {\n    aipp_mode: static\n")
