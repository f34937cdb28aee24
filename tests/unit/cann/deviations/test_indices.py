"""Inputs that describe where: axes of Pad, indices of Gather, bounds of Slice, NMS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

X = {"x": np.random.default_rng(5).standard_normal((2, 3, 4)).astype(F32)}
Made = onnx.ModelProto


def made(
    n: onnx.NodeProto, numbers: dict[str, Any], opset: int = 17, rank: int = 3
) -> Made:
    constants = {
        name: array if isinstance(array, np.ndarray) else np.array(array, np.int64)
        for name, array in numbers.items()
    }
    shape: list[int | str] = [f"y{axis}" for axis in range(rank)]
    return model([n], [("x", [2, 3, 4])], [("y", shape)], constants, opset)


def padded(axes: list[int], value: float | None = None) -> Made:
    numbers: dict[str, Any] = {"pads": [1] * len(axes) + [2] * len(axes)}
    if value is not None:
        numbers["value"] = np.array(value, F32)
    inputs = ["x", "pads", "" if value is None else "value", "axes"]
    return made(node("Pad", inputs, ["y"], name="n"), {**numbers, "axes": axes}, 18)


def gathered(indices: Any, axis: int = 1) -> Made:
    n = node("Gather", ["x", "i"], ["y"], name="n", axis=axis)
    return made(n, {"i": indices}, rank=2 + np.ndim(indices))


def concatenated(start: int, end: int, axis: int = -1) -> Made:
    nodes = [
        node("Slice", ["x", "s", "e", "a"], ["cut"], name="n"),
        node("Concat", ["x", "cut", "x"], ["y"], axis=2),
    ]
    bounds = {"s": start, "e": end, "a": axis}
    constants = {name: np.array([n], np.int64) for name, n in bounds.items()}
    return model(nodes, [("x", [2, 3, 4])], [("y", (2, 3, "w"))], constants)


CASES = [
    pytest.param(padded([1]), "pad-axes", "pad-all-axes", id="pad"),
    pytest.param(padded([-1, 0], 7), "pad-axes", "pad-all-axes", id="pad-value"),
    pytest.param(gathered(-1), "negative-gather", "gather-non-negative", id="gather"),
    pytest.param(
        gathered([[0, -3], [2, -1]]),
        "negative-gather",
        "gather-non-negative",
        id="table",
    ),
    pytest.param(concatenated(2, 2), "empty-slice", "empty-slice", id="slice"),
    pytest.param(concatenated(-1, -1, 2), "empty-slice", "empty-slice", id="slice-end"),
]


@pytest.mark.parametrize(("proto", "name", "rule"), CASES)
def test_it_is_named_and_then_converts_and_agrees(
    proto: Made, name: str, rule: str, tmp_path: Path
) -> None:
    assert linted(proto) == [("n", name, "unknown")]
    with pytest.raises(NotModelledError, match=r"node 'n' \(") as caught:
        convert(proto, tmp_path)
    assert f"rule '{rule}'" in str(caught.value.hint)

    edited = cured(proto, rule)

    assert linted(edited) == []
    expected = run(proto, X)["y"]
    np.testing.assert_array_equal(run(edited, X)["y"], expected)
    np.testing.assert_array_equal(emulate(edited, X, **FP32)["y"], expected)


NO_AXES = made(node("Pad", ["x", "p"], ["y"], name="n"), {"p": [1] * 6}, 18)


@pytest.mark.parametrize(
    ("proto", "cann"),
    [
        pytest.param(NO_AXES, "8.1", id="pad-of-all-axes"),
        pytest.param(gathered([0, 2]), "8.1", id="from-the-start"),
        pytest.param(gathered(-1), "8.5", id="parser-asks-for-negative"),
        pytest.param(concatenated(2, 3), "8.1", id="one-column"),
        pytest.param(cured(concatenated(2, 2), "empty-slice"), "8.1", id="unread"),
    ],
)
def test_the_nearest_twin_is_harmless(proto: Made, cann: str) -> None:
    assert linted(proto, cann=cann) == []


def test_an_empty_slice_that_is_an_output_is_named() -> None:
    n = node("Slice", ["x", "s", "s"], ["y"], name="n")

    assert linted(made(n, {"s": [1]})) == [("n", "empty-slice", "unknown")]


def test_it_is_seen_inside_a_branch() -> None:
    value = helper.make_tensor_value_info("o", TensorProto.INT64, [])
    index = helper.make_tensor("i", TensorProto.INT64, [], [-1])
    nodes = [node("Gather", ["x", "i"], ["o"], name="inner")]
    bodies = [
        helper.make_graph(nodes, name, [], [value], [index]) for name in ("yes", "no")
    ]
    choice = node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1])
    inputs: list[Any] = [("x", [3], TensorProto.INT64), ("c", [], TensorProto.BOOL)]
    proto = model([choice], inputs, [("y", [], TensorProto.INT64)])

    assert linted(proto) == [("inner", "negative-gather", "unknown")] * 2
    assert linted(cured(proto, "gather-non-negative")) == []


def test_suppression_is_named_with_its_boxes(tmp_path: Path) -> None:
    """OP04."""
    nodes = [node("NonMaxSuppression", ["b", "s", "n"], ["y"], name="nms")]
    inputs: list[Any] = [("b", [1, 6, 4]), ("s", [1, 1, 6])]
    outputs: list[Any] = [("y", ["k", 3], TensorProto.INT64)]
    proto = model(nodes, inputs, outputs, {"n": np.array([2], np.int64)})

    assert linted(proto) == [("nms", "nms-in-graph", "unknown")]
    with pytest.raises(NotModelledError, match=r"'nms' .*\[1,6,4\]") as caught:
        convert(proto, tmp_path)
    assert "on the host" in str(caught.value.hint)
