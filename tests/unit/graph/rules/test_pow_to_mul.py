from __future__ import annotations

import numpy as np
import onnx
import pytest

from ascendflow.graph.rules.pow_to_mul import PowToMul
from tests.editing import applied, why_skipped
from tests.models import F32, model, node, run

EDGES = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, -3e38, 1, -1]
RANDOM = np.random.default_rng(0)
X = np.concatenate(
    [
        (RANDOM.standard_normal(20_000) * 10.0 ** RANDOM.integers(-12, 12, 20_000)),
        EDGES,
    ]
).astype(F32)


def power(
    exponent: object, dtype: type = F32, shape: list[int] | None = None, opset: int = 17
) -> onnx.ModelProto:
    shape = [X.size] if shape is None else shape
    constants: dict[str, np.ndarray] = {"p": np.array(exponent, dtype)}
    nodes = [node("Pow", ["x", "p"], ["y"])]
    return model(nodes, [("x", shape)], [("y", shape)], constants, opset)


@pytest.mark.parametrize("exponent", [1, 2, 3, [1], [2], [3]])
@pytest.mark.parametrize("dtype", [F32, np.int64])
@pytest.mark.parametrize("opset", [12, 17])
def test_every_bit_stays(exponent: object, dtype: type, opset: int) -> None:
    proto = power(exponent, dtype, opset=opset)

    after = applied(PowToMul(), proto)

    assert {n.op_type for n in after.graph.node} <= {"Identity", "Mul"}
    before_bits = run(proto, {"x": X})["y"].view(np.uint32)
    np.testing.assert_array_equal(run(after, {"x": X})["y"].view(np.uint32), before_bits)


def test_onnxruntime_does_not_multiply_where_the_last_axis_has_one_element() -> None:
    column = X[:1000, None]
    found = run(power(3, shape=[1000, 1]), {"x": column})["y"]

    assert (found != column * column * column).any()


def test_the_last_node_keeps_the_name() -> None:
    after = applied(PowToMul(), power(3))

    assert (after.graph.node[-1].name, list(after.graph.node[-1].output)) == ("y", ["y"])


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        pytest.param(power(0.5), "'pow-to-sqrt' has it", id="root"),
        pytest.param(power(2.5), "its exponent is 2.5, not 1, 2 or 3", id="2.5"),
        pytest.param(power([2] * X.size), "elements, not one", id="tensor"),
        pytest.param(power([[2]]), "more dimensions", id="grows"),
        pytest.param(power(3, shape=[X.size, 1]), "last axis has one element", id="column"),
        pytest.param(power(2, shape=[]), "last axis has one element", id="scalar"),
    ],
)
def test_others_are_skipped_with_a_reason(proto: onnx.ModelProto, words: str) -> None:
    if words == "more dimensions":
        del proto.graph.output[0].type.tensor_type.shape.dim[:]
        proto.graph.output[0].type.tensor_type.ClearField("shape")

    assert words in why_skipped(PowToMul(), proto)


def test_an_exponent_that_is_fed_is_skipped() -> None:
    nodes = [node("Pow", ["x", "p"], ["y"])]
    proto = model(nodes, [("x", [3]), ("p", [])], [("y", [3])])

    assert why_skipped(PowToMul(), proto) == "its exponent is no constant"


def test_whole_numbers_are_skipped() -> None:
    nodes = [node("Pow", ["x", "p"], ["y"])]
    int64 = onnx.TensorProto.INT64
    two = {"p": np.array(2, np.int64)}
    proto = model(nodes, [("x", [3], int64)], [("y", [3], int64)], two)

    assert why_skipped(PowToMul(), proto) == "its base is no float"
