from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.reduce_axes_input import ReduceAxesInput
from tests.editing import finding, why_skipped
from tests.models import F32, Shape, model, node, run

if TYPE_CHECKING:
    import onnx

X = {"x": np.random.default_rng(0).standard_normal((2, 3, 4)).astype(F32)}


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


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceMean", "ReduceSumSquare"])
@pytest.mark.parametrize("axes", [[0], [-1], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_it_is_spelled_otherwise_and_means_the_same(
    op_type: str, axes: list[int], keepdims: int
) -> None:
    proto = reduction(op_type, axes, keepdims=keepdims)

    found, edited = finding(ReduceAxesInput(), proto)

    assert isinstance(found, Applied)
    made, right = run(edited, X)["y"], run(proto, X)["y"]
    assert made.shape == right.shape
    np.testing.assert_allclose(made, right, rtol=1e-6, atol=1e-6)


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
            reduction("ReduceMean", [0], ("N", 3, 4)), "['N'] are not known", id="dynamic"
        ),
    ],
)
def test_others_are_skipped_with_a_reason(proto: onnx.ModelProto, reason: str) -> None:
    assert reason in why_skipped(ReduceAxesInput(), proto)
