"""Positions computed in fp16. Rounding is the storage's; held to numpy in fp16 here."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tests.emulation import FP32, Linted, emulate, linted
from tests.models import F32, model, node, run

NAME = "index-in-fp16"
UNARY = {"Abs", "Neg", "Identity"}


def gathered(length: int, *between: str, **attributes: Any) -> onnx.ModelProto:
    """Make table[int(x * 1)]: x is a position in fp32, of which a Mul makes fp16."""
    nodes = [
        node("Mul", ["x", "one"], ["f"]),
        node("Cast", ["f"], ["i"], to=TensorProto.INT64),
    ]
    last = "i"
    for op_type in between:
        others = [] if op_type in UNARY else ["zero"]
        nodes.append(node(op_type, [last, *others], [f"{last}{op_type}"]))
        last = nodes[-1].output[0]
    nodes.append(node("Gather", ["table", last], ["y"], name="gather", **attributes))
    constants: dict[str, np.ndarray] = {
        "one": np.array(1, F32),
        "zero": np.array([0], np.int64),
        "table": np.arange(length, dtype=F32),
    }
    return model(nodes, [("x", [3])], [("y", [3])], constants)


def test_positions_beyond_2048_are_fp16_numbers() -> None:
    x = np.array([2047, 2049, 4095], F32)
    proto = gathered(5000)
    # the table holds its own positions, so fp16 rounds what is gathered as well: use sums
    proto.graph.initializer[2].CopyFrom(
        onnx.numpy_helper.from_array((np.arange(5000) % 2).astype(F32), "table")
    )

    got = emulate(proto, {"x": x})["y"]

    indices = x.astype(np.float16).astype(np.int64)
    assert indices.tolist() == [2047, 2048, 4096]
    np.testing.assert_array_equal(got, (indices % 2).astype(F32))
    assert run(proto, {"x": x})["y"].tolist() == [1, 1, 1]
    assert got.tolist() == [1, 0, 0]


@pytest.mark.parametrize("between", [(), ("Add",), ("Add", "Sub", "Mul")])
def test_lint_names_the_gather(between: tuple[str, ...]) -> None:
    proto = gathered(2049, *between)

    assert linted(proto) == [Linted("gather", NAME, "precision")]


def test_lint_is_silent_where_fp16_holds_every_position() -> None:
    assert linted(gathered(2048)) == []


def test_lint_is_silent_where_the_kernels_are_fp32() -> None:
    config = FP32

    assert linted(gathered(5000), **config) == []


def test_a_graph_input_that_is_only_cast_stays_fp32() -> None:
    proto = gathered(5000)
    proto.graph.node[1].input[0] = "x"

    assert linted(proto) == []


def test_indices_that_were_always_integers_are_left_alone() -> None:
    nodes = [
        node("ArgMax", ["x"], ["i"], keepdims=0),
        node("Gather", ["table", "i"], ["y"], name="gather"),
    ]
    table = {"table": np.arange(5000, dtype=F32)}
    proto = model(nodes, [("x", [4, 3])], [("y", [3])], table)

    assert linted(proto) == []


@pytest.mark.parametrize("op_type", ["Slice", "ScatterND", "OneHot"])
def test_other_readers_of_positions_are_named(op_type: str) -> None:
    inputs = {
        "Slice": ["table", "i", "ends"],
        "ScatterND": ["table", "pairs", "updates"],
        "OneHot": ["i", "depth", "values"],
    }[op_type]
    nodes = [
        node("Mul", ["x", "one"], ["f"]),
        node("Cast", ["f"], ["i"], to=TensorProto.INT64),
        node("Unsqueeze", ["i", "axes"], ["pairs"]),
        node(op_type, inputs, ["y"], name="reader"),
    ]
    constants = {
        "one": np.array(1, F32),
        "axes": np.array([1]),
        "table": np.arange(5000, dtype=F32),
        "ends": np.array([5000]),
        "updates": np.zeros(1, F32),
        "depth": np.array(5000),
        "values": np.array([0, 1], F32),
    }
    proto = model(
        nodes, [("x", [1])], [("y", ["n"] if op_type != "OneHot" else [1, 5000])], constants
    )

    assert Linted("reader", NAME, "precision") in linted(proto)


READERS: dict[str, list[list[str]]] = {
    "ConstantOfShape": [["i"]],
    "Expand": [["one", "i"]],
    "Gather": [["table", "i"]],
    "GatherElements": [["table", "i"]],
    "GatherND": [["table", "pair"]],
    "OneHot": [["i", "depth", "values"], ["at", "scalar", "values"]],
    "Pad": [["table", "two"]],
    "Range": [["scalar", "n", "n"], ["n", "scalar", "n"], ["n", "n", "scalar"]],
    "Reshape": [["table", "i"]],
    "Resize": [["table", "none", "none", "i"]],
    "ScatterElements": [["table", "i", "one"]],
    "ScatterND": [["table", "pair", "one"]],
    "Slice": [["table", "i", "at"], ["table", "at", "i"]],
    "Tile": [["table", "i"]],
    "TopK": [["table", "i"]],
}


@pytest.mark.parametrize(
    ("op_type", "inputs"),
    [(op_type, each) for op_type, all_of_it in READERS.items() for each in all_of_it],
    ids=lambda each: each if isinstance(each, str) else "-".join(each),
)
def test_each_input_that_says_where_or_how_many_is_followed(
    op_type: str, inputs: list[str]
) -> None:
    nodes = [
        node("Mul", ["x", "one"], ["f"]),
        node("Cast", ["f"], ["i"], to=TensorProto.INT64),
        node("Unsqueeze", ["i", "at"], ["pair"]),
        node("Squeeze", ["i"], ["scalar"]),
        node("Concat", ["i", "i"], ["two"], axis=0),
        node(op_type, inputs, ["y", "z"] if op_type == "TopK" else ["y"], name="reader"),
    ]
    constants = {
        "one": np.ones(1, F32),
        "none": np.zeros(0, F32),
        "at": np.array([0]),
        "table": np.arange(5000, dtype=F32),
        "n": np.array(5000),
        "depth": np.array(5000),
        "values": np.array([0, 1], F32),
    }
    proto = model(nodes, [("x", [1])], [("y", ["a"])], constants)
    kind = TensorProto.INT64 if op_type == "Range" else TensorProto.FLOAT
    proto.graph.output[0].type.tensor_type.elem_type = kind
    if op_type == "OneHot":
        proto.graph.output[0].type.tensor_type.shape.dim.add().dim_param = "b"
    assert linted(proto, NAME) == [Linted("reader", NAME, "precision")]


@pytest.mark.parametrize("op_type", ["Gather", "GatherElements", "ScatterElements"])
@pytest.mark.parametrize(("axis", "found"), [(0, True), (-2, True), (1, False)])
def test_positions_are_those_along_the_axis(
    op_type: str, axis: int, *, found: bool
) -> None:
    inputs = ["table", "i", *(["updates"] if op_type == "ScatterElements" else [])]
    nodes = [
        node("Mul", ["x", "one"], ["f"]),
        node("Cast", ["f"], ["i"], to=TensorProto.INT64),
        node(op_type, inputs, ["y"], name="reader", axis=axis),
    ]
    constants = {
        "one": np.ones(1, F32),
        "table": np.zeros((2049, 4), F32),
        "updates": np.zeros((1, 1), F32),
    }
    shape = ["a", "b", "c"][: 3 if op_type == "Gather" else 2]
    proto = model(nodes, [("x", [1, 1])], [("y", shape)], constants)

    assert bool(linted(proto, NAME)) == found


@pytest.mark.parametrize("between", ["Abs", "Neg", "Identity", "Max", "Min", "Mod", "Div"])
def test_it_is_followed_through_arithmetic(between: str) -> None:
    found = linted(gathered(2049, between), NAME)

    assert found == [Linted("gather", NAME, "precision")]


def roi_align(side: int, scale: float) -> onnx.ModelProto:
    nodes = [
        node(
            "RoiAlign",
            ["x", "rois", "batch"],
            ["y"],
            spatial_scale=scale,
            output_height=2,
            output_width=2,
        )
    ]
    inputs = [("x", [1, 1, side, side]), ("rois", [2, 4])]
    return model(nodes, inputs, [("y", [2, 1, 2, 2])], {"batch": np.zeros(2, np.int64)})


def test_boxes_beyond_1024_are_named() -> None:
    proto = roi_align(272, 0.25)

    assert linted(proto) == [Linted("y", NAME, "precision")]


@pytest.mark.parametrize(
    ("proto", "config"),
    [
        pytest.param(roi_align(256, 0.25), {}, id="up-to-1024"),
        pytest.param(
            roi_align(272, 0.25),
            FP32,
            id="fp32",
        ),
    ],
)
def test_boxes_with_room_are_not(proto: onnx.ModelProto, config: dict[str, str]) -> None:
    assert linted(proto, **config) == []


def test_boxes_are_rounded_to_whole_pixels() -> None:
    proto = roi_align(300, 0.125)
    # a ramp along W, an eighth for each feature, so an eighth of a pixel is 1/64
    x = np.tile((np.arange(300, dtype=F32) - 280) / 8, (300, 1))[None, None]
    rois = np.array([[2201, 0, 2301, 1025.5], [2000, 0, 2040, 100]], F32)

    got = emulate(proto, {"x": x, "rois": rois})["y"]

    rounded = rois.astype(np.float16).astype(F32)
    assert rounded[0].tolist() == [2200, 0, 2300, 1026]
    wanted = run(proto, {"x": x, "rois": rounded})["y"]
    np.testing.assert_array_equal(got, wanted.astype(np.float16).astype(F32))
    assert np.abs(got - run(proto, {"x": x, "rois": rois})["y"]).max() > 0.01
