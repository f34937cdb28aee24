"""Infinities, NaN and large numbers in fp16; expected values are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.emulation import FP32, IEEE, SATURATING, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

NAME = "range-fp16"
FLOAT, HALF = TensorProto.FLOAT, TensorProto.FLOAT16
FOUND = [("y", NAME, "precision")]
LARGE = np.array([1, np.inf, -np.inf, np.nan, 7e4, -7e4], F32)


def asking(op_type: str, **attributes: int) -> onnx.ModelProto:
    made = node(op_type, ["x"], ["y"], **attributes)
    return model([made], [("x", [6])], [("y", [6], TensorProto.BOOL)])


def reduced(
    op_type: str, shape: list[Any], opset: int = 17, dtype: int = FLOAT
) -> onnx.ModelProto:
    """Reduce the last axis."""
    made = node(op_type, ["x"], ["y"], axes=[-1], keepdims=0)
    outputs = [("y", shape[:-1], dtype)]
    return model([made], [("x", shape, dtype)], outputs, opset=opset)


def logarithm_of_sum(shape: list[int]) -> onnx.ModelProto:
    nodes = [
        node("ReduceSum", ["x", "last"], ["sum"], keepdims=0),
        node("Log", ["sum"], ["y"]),
    ]
    last = {"last": np.array([-1])}
    return model(nodes, [("x", shape)], [("y", shape[:-1])], last)


@pytest.mark.parametrize(
    ("op_type", "attributes", "soc_version", "expected"),
    [
        pytest.param("IsInf", {}, SATURATING, [0, 0, 0, 0, 0, 0], id="inf-saturated"),
        pytest.param("IsNaN", {}, SATURATING, [0, 0, 0, 0, 0, 0], id="nan-saturated"),
        pytest.param("IsInf", {}, IEEE, [0, 1, 1, 0, 1, 1], id="inf"),
        pytest.param(
            "IsInf", {"detect_negative": 0}, IEEE, [0, 1, 0, 0, 1, 0], id="positive"
        ),
    ],
)
def test_infinity_and_nan_are_those_of_fp16(
    op_type: str, attributes: dict[str, int], soc_version: str, expected: list[int]
) -> None:
    proto = asking(op_type, **attributes)
    y = emulate(proto, {"x": LARGE}, soc_version=soc_version)["y"]

    assert y.astype(int).tolist() == expected
    assert y.tolist() != run(proto, {"x": LARGE})["y"].tolist()
    assert linted(proto, soc_version=soc_version) == FOUND


@pytest.mark.parametrize(
    ("proto", "config"),
    [
        pytest.param(asking("IsNaN"), {"soc_version": IEEE}, id="fp16-has-nan"),
        pytest.param(asking("IsInf"), FP32, id="fp32"),
        pytest.param(asking("IsNaN"), FP32, id="fp32-nan"),
    ],
)
def test_where_onnx_has_the_same_nothing_is_found(
    proto: onnx.ModelProto, config: dict[str, Any]
) -> None:
    assert linted(proto, **config) == []
    y = emulate(proto, {"x": LARGE}, **config)["y"]
    assert y.tolist() == run(proto, {"x": LARGE})["y"].tolist()


@pytest.mark.parametrize(
    ("proto", "expected"),
    [
        pytest.param(reduced("ReduceMin", [2, 0], 13), 65504, id="min"),
        pytest.param(reduced("ReduceMax", [2, 0], 13), -65504, id="max"),
        pytest.param(reduced("ReduceLogSum", [2, 0], 13), -65504, id="log-sum"),
        pytest.param(reduced("ReduceLogSumExp", [2, 0], 13), -65504, id="log-sum-exp"),
        pytest.param(logarithm_of_sum([2, 0]), -65504, id="spelled-out"),
    ],
)
def test_what_is_made_of_nothing_is_no_infinity(
    proto: onnx.ModelProto, expected: float
) -> None:
    feeds = {"x": np.zeros((2, 0), F32)}

    assert emulate(proto, feeds)["y"].tolist() == [expected] * 2
    assert np.isinf(run(proto, feeds)["y"]).all()
    assert linted(proto) == FOUND
    # With infinities in fp16 there is no difference.
    assert linted(proto, soc_version=IEEE) == []
    assert np.isinf(emulate(proto, feeds, soc_version=IEEE)["y"]).all()


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(reduced("ReduceMin", [2, 1]), id="min"),
        pytest.param(reduced("ReduceLogSum", [2, 3]), id="log-sum"),
        pytest.param(reduced("ReduceMax", [0, 3]), id="nothing-to-give"),
        pytest.param(logarithm_of_sum([2, 3]), id="logarithm"),
    ],
)
def test_of_something_nothing_is_found(proto: onnx.ModelProto) -> None:
    assert linted(proto) == []


@pytest.mark.parametrize(
    ("soc_version", "expected"), [(SATURATING, 65504), (IEEE, float("inf"))]
)
def test_a_product_of_many_factors_leaves_the_range(
    soc_version: str, expected: float
) -> None:
    proto = reduced("ReduceProd", [1, 8])
    feeds = {"x": np.full((1, 8), 4, F32)}

    assert emulate(proto, feeds, soc_version=soc_version)["y"].tolist() == [expected]
    assert run(proto, feeds)["y"].tolist() == [65536]
    assert linted(proto, soc_version=soc_version) == FOUND


def test_a_product_of_few_factors_is_not_named() -> None:
    assert linted(reduced("ReduceProd", [1, 7])) == []
    assert linted(reduced("ReduceProd", [1, 8]), **FP32) == []
    assert linted(reduced("ReduceProd", [1, "n"])) == FOUND
    assert linted(reduced("ReduceProd", ["n", 7])) == []
    # Of fp16 tensors ONNX's product leaves the range, too.
    assert linted(reduced("ReduceProd", [1, 8], dtype=HALF), soc_version=IEEE) == []


@pytest.mark.parametrize(
    ("shape", "given", "found"),
    [
        pytest.param([3, 2, 4], [3, 1, 1], FOUND, id="eight"),
        pytest.param([3, 2, 4], [3, 2, 1], [], id="four"),
        pytest.param([3, 0, 4], [3, 1, 4], [], id="of-nothing"),
        pytest.param([3, 0, 4], [3, 0, 1], [], id="nothing-to-give"),
        pytest.param([3, 2, 4], ["a", "b", "c"], FOUND, id="unknown"),
    ],
)
def test_where_axes_are_fed_shapes_say_how_many_factors(
    shape: list[int], given: list[Any], found: list[tuple[str, str, str]]
) -> None:
    made = node("ReduceProd", ["x", "axes"], ["y"])
    inputs: list[Any] = [("x", shape), ("axes", ["k"], TensorProto.INT64)]
    proto = model([made], inputs, [("y", given)], opset=18)

    assert linted(proto, NAME) == found


def test_keeping_the_node_in_fp32_is_the_cure() -> None:
    proto = asking("IsInf")
    config: dict[str, Any] = {"soc_version": IEEE, "keep_dtype": ["y"]}

    assert linted(proto, **config) == []
    y = emulate(proto, {"x": LARGE}, **config)["y"]
    assert y.tolist() == run(proto, {"x": LARGE})["y"].tolist()
