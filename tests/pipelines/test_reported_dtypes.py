"""Data types on the road to an OM, as users reported them failing: ONNX file to verdict.

Each case is built in code, with a variant or two of its kind; what is expected comes from
onnxruntime on another model, from numpy, or from the public report itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from ascendflow.errors import NotModelledError, StageError
from ascendflow.tensors import TensorSpec
from tests import exported_models, models
from tests.models import F32, model, node
from tests.stage_runs import pipeline, simplified

if TYPE_CHECKING:
    from pathlib import Path

INT64 = np.iinfo(np.int64)


@pytest.mark.parametrize(
    ("bounds", "part"),
    [
        (([2], [INT64.max], [0], [1]), np.s_[2:]),
        (([-3], [INT64.max], [1], [1]), np.s_[:, -3:]),
        (([1, 1], [INT64.max, INT64.max], [0, 1], [1, 2]), np.s_[1:, 1::2]),
        (([-1], [INT64.min], [1], [-1]), np.s_[:, ::-1]),
    ],
    ids=["to-the-end", "from-behind", "two-axes", "backwards"],
)
@pytest.mark.parametrize("dtype", [F32, np.int32])
def test_slice_to_the_largest_int64_keeps_the_last_element_on_the_target(
    bounds: tuple[list[int], ...], part: Any, dtype: type, tmp_path: Path
) -> None:
    """DT02. An int32 of the largest int64 is -1, and the last element would be lost."""
    names = ("starts", "ends", "axes", "steps")
    x: np.ndarray = np.arange(40).reshape(10, 4).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    proto = model(
        [node("Slice", ["x", *names], ["y"], name="tail")],
        [("x", x.shape, kind)],
        [("y", ["n", "m"], kind)],
        {k: np.array(v, np.int64) for k, v in zip(names, bounds, strict=True)},
    )
    made = simplified(tmp_path, proto, x=x)

    assert made.judge()["passed"]
    np.testing.assert_array_equal(made.golden_of(), x[part])
    np.testing.assert_array_equal(made.emulated(), x[part])


BF16 = ml_dtypes.bfloat16


@pytest.mark.parametrize("op_type", ["MatMul", "Add", "Mul"])
def test_bfloat16_gets_a_golden_and_the_emulator_says_that_it_has_no_model_of_it(
    op_type: str, tmp_path: Path
) -> None:
    """DT05."""
    x, w = np.array([[1.0, 0.3]], F32), np.array([[1.0, 2.0], [3.0, 0.1]], F32)
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [2, 2], w.ravel().tolist())
    proto = exported_models.model(
        [
            node("Cast", ["x"], ["xb"], to=TensorProto.BFLOAT16),
            node(op_type, ["xb", "w"], ["yb"], name="bf16_node"),
            node("Cast", ["yb"], ["y"], to=TensorProto.FLOAT),
        ],
        [exported_models.value("x", [1, 2])],
        [exported_models.value("y", ["n", 2])],
        [weight],
    )
    wide, narrow = x.astype(BF16).astype(F32), w.astype(BF16).astype(F32)
    operations: dict[str, Any] = {"MatMul": np.matmul, "Add": np.add, "Mul": np.multiply}
    expected = operations[op_type](wide, narrow).astype(BF16).astype(F32)
    made = pipeline(tmp_path, [TensorSpec("x", "float32", (1, 2))])
    made.sample({"x": x})
    made.ingest(proto)
    (warning,) = made.golden().warnings
    made.simplify()

    assert f"onnxruntime cannot run 'bf16_node' ({op_type}, bfloat16)" in warning
    np.testing.assert_array_equal(made.golden_of(), expected)
    with pytest.raises(NotModelledError, match=r"'bf16_node'.* is bfloat16"):
        made.judge()


@pytest.mark.parametrize("op_type", ["Conv", "Gemm"])
def test_float16_model_gives_what_float32_rounded_once_gives(
    op_type: str, tmp_path: Path
) -> None:
    """DT10."""
    rng = np.random.default_rng(7)
    shapes = {
        "Conv": ([1, 3, 6, 6], [4, 3, 3, 3], [1, 4, 4, 4]),
        "Gemm": ([2, 5], [5, 3], [2, 3]),
    }
    fed, kernel, result = shapes[op_type]
    x, w = (rng.standard_normal(shape).astype(np.float16) for shape in (fed, kernel))
    attributes = {"kernel_shape": [3, 3]} if op_type == "Conv" else {}
    first = node(op_type, ["x", "w"], ["c"], name="op16", **attributes)
    nodes = [first, node("Relu", ["c"], ["y"])]
    half, wide = (
        model(nodes, [("x", fed, kind)], [("y", result, kind)], {"w": w.astype(dtype)})
        for kind, dtype in ((TensorProto.FLOAT16, np.float16), (TensorProto.FLOAT, F32))
    )
    expected = models.run(wide, {"x": x.astype(F32)})["y"].astype(np.float16)
    made = simplified(tmp_path, half, x=x)

    assert made.golden_of().dtype == np.float16
    np.testing.assert_array_equal(made.golden_of(), expected)
    assert made.judge()["passed"]
    with pytest.raises(StageError, match=r"'x' is float32, must be float16: want"):
        pipeline(tmp_path / "wide", [TensorSpec("x", "float16", tuple(fed))]).sample(
            {"x": x.astype(F32)}
        )


def test_float64_branch_says_what_float32_would_make_of_it(tmp_path: Path) -> None:
    """DT08. 1e8 + x - 1e8 in float32 is 0, 0, 0, 8 for these four numbers."""
    x = np.array([0.5, 1.25, -3.75, 7.0], F32)
    proto = model(
        [
            node("Cast", ["x"], ["d"], to=TensorProto.DOUBLE),
            node("Add", ["d", "c"], ["p"], name="add_f64"),
            node("Sub", ["p", "c"], ["q"], name="sub_f64"),
            node("Cast", ["q"], ["y"], to=TensorProto.FLOAT),
        ],
        [("x", [4])],
        [("y", [4])],
        {"c": np.array(1e8, np.float64)},
    )
    made = pipeline(tmp_path, [TensorSpec("x", "float32", (4,))])
    made.sample({"x": x})
    made.ingest(proto)
    (warning,) = made.golden().warnings
    made.simplify()

    np.testing.assert_array_equal(made.golden_of(), x)
    assert warning.startswith("float64 in 'add_f64', 'sub_f64'")
    assert "in float32 output 'y' would be up to 3.75 off, over a range of 10.75" in warning
    with pytest.raises(NotModelledError, match=r"'add_f64' \(Add\): .* is float64"):
        made.judge()
