from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.reduce_axes_input import ReduceAxesInput
from tests.editing import applied, finding, why_skipped
from tests.models import F32, Shape, model, node, run

X = {"x": np.random.default_rng(0).standard_normal((2, 3, 4)).astype(F32)}
POSITIVE = {"x": np.abs(X["x"])}


def reduction(
    op_type: str, axes: list[int] | None, shape: Shape = (2, 3, 4), **attributes: int
) -> onnx.ModelProto:
    constants = {} if axes is None else {"axes": np.array(axes, np.int64)}
    kept = attributes.get("keepdims", 1) or axes is None
    rank = len(shape) if kept or axes is None else len(shape) - len(axes)
    return model(
        [node(op_type, ["x", *constants], ["y"], name="r", **attributes)],
        [("x", shape)],
        [("y", [f"y{axis}" for axis in range(rank)])],
        constants,
        opset=18,
    )


@pytest.mark.parametrize("op_type", sorted(ReduceAxesInput.op_types))
@pytest.mark.parametrize("axes", [[0], [-1], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_it_is_spelled_otherwise_and_means_the_same(
    op_type: str, axes: list[int], keepdims: int
) -> None:
    proto = reduction(op_type, axes, keepdims=keepdims)

    found, edited = finding(ReduceAxesInput(), proto)

    assert isinstance(found, Applied)
    x = POSITIVE if op_type == "ReduceLogSum" else X
    made, right = run(edited, x)["y"], run(proto, x)["y"]
    assert made.shape == right.shape
    np.testing.assert_allclose(made, right, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin", "ReduceProd"])
@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 13, 31])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_every_length_is_halved_to_one(op_type: str, length: int, keepdims: int) -> None:
    proto = reduction(op_type, [1], (2, length), keepdims=keepdims)
    x = np.random.default_rng(length).uniform(-2, 2, (2, length)).astype(F32)

    y = run(applied(ReduceAxesInput(), proto), {"x": x})["y"]

    reduced: dict[str, Any] = {"ReduceMax": np.max, "ReduceMin": np.min}
    reduce = reduced.get(op_type, np.prod)
    expected = reduce(x.astype(np.float64), axis=1, keepdims=bool(keepdims))
    assert y.shape == expected.shape
    np.testing.assert_allclose(y, expected, rtol=1e-5)


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int8, np.uint8, np.float64])
def test_the_largest_and_the_least_are_of_any_type(op_type: str, dtype: Any) -> None:
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    proto = model(
        [node(op_type, ["x", "axes"], ["y"], name="r")],
        [("x", [3, 5], number)],
        [("y", ["a", "b"], number)],
        {"axes": np.array([1])},
        opset=18,
    )
    x = {"x": np.random.default_rng(0).integers(0, 100, (3, 5)).astype(dtype)}

    y = run(applied(ReduceAxesInput(), proto), x)["y"]

    np.testing.assert_array_equal(y, run(proto, x)["y"])


def test_exponentials_of_large_numbers_and_of_infinities_are_added_up() -> None:
    """Without the maximum taken off, 300 overflows and a row of -inf gives NaN."""
    proto = reduction("ReduceLogSumExp", [1], (6, 2), keepdims=0)
    inf = np.inf
    rows = [[300, 299], [-300, -301], [-inf, -inf], [-inf, 2], [inf, 1], [0, 0]]
    x = np.array(rows, F32)

    y = run(applied(ReduceAxesInput(), proto), {"x": x})["y"]

    np.testing.assert_allclose(y, np.logaddexp(x[:, 0], x[:, 1]), rtol=1e-6)
    np.testing.assert_allclose(y, run(proto, {"x": x})["y"], rtol=1e-6)


def test_a_mean_over_known_lengths_of_a_dynamic_tensor_is_cured() -> None:
    proto = reduction("ReduceMean", [2], ("N", 3, 4))

    found, edited = finding(ReduceAxesInput(), proto)

    assert isinstance(found, Applied)
    np.testing.assert_allclose(
        run(edited, X)["y"], run(proto, X)["y"], rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(reduction("ReduceSum", None), "no axes input", id="absent"),
        pytest.param(reduction("ReduceSum", []), "no axes input", id="empty"),
        pytest.param(
            reduction("ReduceSum", [1], noop_with_empty_axes=1), "is 1 already", id="noop"
        ),
        pytest.param(
            reduction("ReduceMean", [0], ("N", 3, 4)), "is not fixed, or is 0", id="dynamic"
        ),
        pytest.param(reduction("ReduceMax", [0], ("N", 3)), "is not fixed", id="largest"),
        pytest.param(reduction("ReduceMin", [0], (0, 3)), "or is 0", id="of-nothing"),
    ],
)
def test_others_are_skipped_with_a_reason(proto: onnx.ModelProto, reason: str) -> None:
    assert reason in why_skipped(ReduceAxesInput(), proto)


@pytest.mark.parametrize("op_type", ["ReduceMean", "ReduceMax"])
def test_axes_that_are_fed_are_skipped(op_type: str) -> None:
    made = node(op_type, ["x", "axes"], ["y"], name="r")
    inputs: list[Any] = [("x", [2, 3]), ("axes", [1], onnx.TensorProto.INT64)]
    proto = model([made], inputs, [("y", ["a", "b"])], opset=18)

    assert "its axes are no constant" in why_skipped(ReduceAxesInput(), proto)
