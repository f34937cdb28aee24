"""Limits are those of ATC's AIPP document; codes, of GE's own checks."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ascendflow.manifest.aipp import Aipp
from ascendflow.manifest.aipp_rules import aipp_problems, picture_ranges
from ascendflow.manifest.problems import dotted

INPUTS = [
    {"name": "x", "dtype": "float32", "shape": [1, 3, 4, 8]},
    {"name": "ids", "dtype": "int64", "shape": [1, 4]},
    {"name": "gray", "dtype": "float16", "shape": [1, 1, 4, 8]},
]
MATRIX = [[77, 150, 29], [-43, -85, 128], [128, -107, -21]]
RGB = {"input_format": "RGB888_U8"}
FULL = {
    "input_format": "XRGB8888_U8",
    "src_image_size": [6, 12],
    "swap_channels": True,
    "swap_alpha": True,
    "crop": {"top": 1, "left": 2, "height": 3, "width": 5},
    "color_space": {"matrix": MATRIX, "output_bias": [0, 128, 128]},
    "mean": [123.675, 116.28, 103.53],
    "scale": [0.0171, 0.0175, 0.0174],
    "padding": {"top": 1, "left": 1, "right": 2, "value": -1.5},
}


def problems(
    block: dict[str, Any], name: str = "x", soc: str = "Ascend310P3", **convert: Any
) -> list[str]:
    given = {"soc_version": soc, "aipp": {name: block}, **convert}
    return [f"{dotted(each.keys)} {each.text}" for each in aipp_problems(given, INPUTS)]


def test_blocks_that_hold() -> None:
    assert problems(RGB) == []
    assert problems(FULL) == []
    assert problems({"input_format": "YUV400_U8", "mean": [127.5]}, "gray") == []
    mixed = {"input_format": "RGB888_U8", "color_space": {"matrix": MATRIX}}
    assert problems(mixed, "gray") == []
    assert Aipp.model_validate(FULL).padding is not None


@pytest.mark.parametrize(
    ("name", "block", "told"),
    [
        ("y", RGB, "convert.aipp.y is no input's name (E10052)"),
        ("ids", RGB, "convert.aipp.ids prepares an input of int64, and AIPP makes float32"),
        ("ids", RGB, "convert.aipp.ids prepares an input of shape [1, 4], and pictures"),
        ("gray", RGB, "aipp.gray.input_format is RGB888_U8, and the input has 1 channels"),
        ("x", {"input_format": "YUV400_U8"}, "is YUV400_U8, and the input has 3 channels"),
        (
            "gray",
            {"input_format": "YUV400_U8", "color_space": {"matrix": MATRIX}},
            "aipp.gray.color_space is for colours, and the picture is YUV400_U8",
        ),
        ("x", RGB | {"swap_alpha": True}, "swap_alpha is for XRGB8888_U8, and the picture"),
        (
            "x",
            RGB | {"mean": [1.0]},
            "must have a value for each of 3 channels, got 1",
        ),
        ("x", RGB | {"mean": [0, 0, 256]}, "mean[2] must be within 0 and 255, got 256"),
        ("x", RGB | {"scale": [1, 0, 1]}, "scale[1] must be a float16 other than 0, got 0"),
        ("x", RGB | {"scale": [1, 1, 1e5]}, "scale[2] must be a float16 other than 0"),
        ("x", RGB | {"scale": [1e-8, 1, 1]}, "scale[0] must be a float16 other than 0"),
        ("x", RGB | {"src_image_size": [9000, 8]}, "must be 1 to 4096 rows"),
        ("x", RGB | {"src_image_size": [4, 1]}, "must be 1 to 4096 rows of 2 to 4096"),
        (
            "x",
            RGB | {"src_image_size": [5, 8]},
            "makes pictures of [5, 8], and the input",
        ),
        (
            "x",
            RGB | {"crop": {"height": 4, "width": 8}},
            "src_image_size is missing, and crop needs it",
        ),
        (
            "x",
            RGB | {"src_image_size": [5, 9], "crop": {"top": 2, "height": 4, "width": 8}},
            "crop.height ends at 6, and pictures have height 5",
        ),
        (
            "x",
            RGB | {"src_image_size": [3, 8], "padding": {"top": 2}},
            "makes pictures of [5, 8], and the input is of [4, 8]",
        ),
        (
            "x",
            RGB | {"src_image_size": [4, 8], "padding": {"value": 7e4}},
            "padding.value must be a float16",
        ),
    ],
)
def test_what_atc_or_the_device_would_not_take(
    name: str, block: dict[str, Any], told: str
) -> None:
    assert any(told in each for each in problems(block, name)), problems(block, name)


def test_padded_width_depends_on_the_soc() -> None:
    wide = [{"name": "x", "dtype": "float32", "shape": [1, 3, 4, 1090]}]
    block = RGB | {"src_image_size": [4, 1080], "padding": {"left": 10}}

    def found(soc: str) -> list[str]:
        convert = {"soc_version": soc, "aipp": {"x": block}}
        return [each.text for each in aipp_problems(convert, wide)]

    assert found("Ascend310P3") == ["makes 1090 columns, and Ascend310P3 pads up to 1080"]
    assert found("Ascend910B4") == []


@pytest.mark.parametrize(
    ("convert", "told"),
    [
        ({"insert_op_conf": "a.cfg"}, "convert.aipp stands beside insert_op_conf"),
        ({"dynamic_dims": [[1], [2]]}, "takes no such gears (E10001)"),
        ({"dynamic_shape": True}, "stands beside dynamic_shape"),
        ({"input_format": "ND"}, "convert.input_format must be NCHW beside aipp"),
        ({"input_fp16_nodes": ["ids", "x"]}, "convert.input_fp16_nodes[1] is prepared by"),
    ],
)
def test_options_that_do_not_go_with_it(convert: dict[str, Any], told: str) -> None:
    (problem,) = problems(RGB, **convert)
    assert told in problem


def test_gears_of_images_take_no_sizes() -> None:
    gears: dict[str, Any] = {"dynamic_image_size": [[4, 8], [8, 16]]}

    assert problems(RGB, **gears) == []
    assert [each.split()[0] for each in problems(FULL, **gears)] == [
        *(f"convert.aipp.x.{key}" for key in ("src_image_size", "crop", "padding")),
    ]


def test_random_pictures_have_no_range() -> None:
    data = {
        "convert": {"aipp": {"x": RGB}},
        "samples": {"random": {"ranges": {"x": [0, 1], "ids": [0, 9]}}},
    }

    (problem,) = picture_ranges(data)
    assert dotted(problem.keys) == "samples.random.ranges.x"


def test_chroma_that_no_document_describes_is_no_format() -> None:
    with pytest.raises(ValidationError, match="must be one of RGB888_U8"):
        Aipp.model_validate({"input_format": "YUV420SP_U8"})


@pytest.mark.parametrize(
    "wrong", [None, 3, [], {"x": None}, {"x": []}, {"x": {"crop": 3, "mean": "a"}}]
)
def test_wrong_types_are_not_judged_here(wrong: Any) -> None:
    found = [each.text for each in aipp_problems({"aipp": wrong}, INPUTS)]
    assert found in ([], ["is missing, and crop needs it"])
