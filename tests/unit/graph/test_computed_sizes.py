"""Sizes of a Resize that the graph computes; its values are onnxruntime's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx_ir as ir
import pytest
from onnx.shape_inference import infer_shapes

from ascendflow.graph.computed_sizes import computed_sizes
from ascendflow.graph.rules.resize_half_pixel import ResizeHalfPixel
from ascendflow.graph.rules.resize_nearest_gather import ResizeNearestGather
from ascendflow.graph.rules.resize_to_matmul import ResizeToMatMul
from tests.editing import applied
from tests.emulation import FP32, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

    from ascendflow.graph.rule import Rule

SLICE = [
    node("Slice", ["shape", "zero", "two", "zero"], ["nc"]),
    node("Concat", ["nc", "hw"], ["sizes"], axis=0),
]
GATHER = [
    node("Gather", ["shape", "first"], ["n"], axis=0),
    node("Unsqueeze", ["n", "zero"], ["n1"]),
    node("Concat", ["n1", "c", "hw"], ["sizes"], axis=0),
]
MANY = [
    node("Mul", ["shape", "ones"], ["more"]),
    node("Slice", ["more", "zero", "two", "zero"], ["nc"]),
    node("Concat", ["nc", "hw"], ["sizes"], axis=0),
]
SWAPPED = [
    node("Gather", ["shape", "one_zero"], ["cn"], axis=0),
    node("Concat", ["cn", "hw"], ["sizes"], axis=0),
]
CONSTANTS = {
    "zero": [0], "two": [2], "first": 0, "c": [2], "hw": [9, 5], "ones": [1, 1, 1, 1],
    "one_zero": [1, 0],
}  # fmt: skip


def resized(
    steps: list[onnx.NodeProto], shape: list[int | str], **kind: Any
) -> onnx.ModelProto:
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Shape", ["r"], ["shape"]),
        *steps,
        node("Resize", ["r", "", "", "sizes"], ["y"], name="resize", **kind),
    ]
    constants = {name: np.array(value, np.int64) for name, value in CONSTANTS.items()}
    return model(nodes, [("x", shape)], [("y", ["a", "b", "h", "w"])], constants)


def followed(steps: list[onnx.NodeProto], shape: list[int | str]) -> object:
    inferred = ir.from_proto(infer_shapes(resized(steps, shape), data_prop=True))
    return computed_sizes(next(n for n in inferred.graph if n.name == "resize").inputs[3])


@pytest.mark.parametrize("steps", [SLICE, GATHER])
def test_numbers_and_open_lengths_are_followed(steps: list[onnx.NodeProto]) -> None:
    assert followed(steps, ["N", 2, 6, 4]) == ["N", 2, 9, 5]
    assert followed(steps, [3, 2, 6, 4]) == [3, 2, 9, 5]


def test_what_is_computed_with_is_not_followed() -> None:
    assert followed(MANY, ["N", 2, 6, 4]) is None


@pytest.mark.parametrize("steps", [SLICE, GATHER])
@pytest.mark.parametrize(
    ("rule", "mode"),
    [
        (ResizeHalfPixel(), "linear"),
        (ResizeNearestGather(), "nearest"),
        (ResizeToMatMul(), "cubic"),
    ],
)
def test_rules_keep_the_values_of_any_batch(
    steps: list[onnx.NodeProto], rule: Rule, mode: str
) -> None:
    proto = resized(steps, ["N", 2, 6, 4], mode=mode)

    after = applied(rule, proto)

    x = {"x": np.random.default_rng(0).standard_normal((3, 2, 6, 4)).astype(F32)}
    np.testing.assert_allclose(run(after, x)["y"], run(proto, x)["y"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("steps", [SLICE, GATHER])
def test_lint_and_the_emulator_know_such_a_node(steps: list[onnx.NodeProto]) -> None:
    kind = {"mode": "linear"}
    asymmetric = {**kind, "coordinate_transformation_mode": "asymmetric"}
    proto = resized(steps, ["N", 2, 6, 4], **kind)
    x = {"x": np.random.default_rng(0).standard_normal((3, 2, 6, 4)).astype(F32)}

    assert linted(proto, **FP32) == [("resize", "resize-half-pixel", "silent")]
    np.testing.assert_allclose(
        emulate(proto, x, **FP32)["y"],
        run(resized(steps, ["N", 2, 6, 4], **asymmetric), x)["y"],
        rtol=0,
        atol=3e-6,
    )


@pytest.mark.parametrize("steps", [MANY, SWAPPED])
def test_another_batch_than_the_input_has_is_not_taken_for_its_own(
    steps: list[onnx.NodeProto],
) -> None:
    found = linted(resized(steps, ["N", "C", 6, 4], mode="linear"), **FP32)

    assert ("resize", "resize-shape", "unknown") in found
