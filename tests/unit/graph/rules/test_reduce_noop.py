from __future__ import annotations

import numpy as np
import onnx
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.reduce_noop import ReduceNoop
from tests.editing import finding, why_skipped
from tests.models import F32, model, node, run

X = {"x": np.array([[-2, 3, -0.0], [np.inf, 5, np.nan]], F32)}
SPELLED = {
    "ReduceL1": "Abs",
    "ReduceL2": "Abs",
    "ReduceLogSum": "Log",
    "ReduceLogSumExp": "Identity",
    "ReduceMax": "Identity",
    "ReduceMean": "Identity",
    "ReduceMin": "Identity",
    "ReduceProd": "Identity",
    "ReduceSum": "Identity",
    "ReduceSumSquare": "Mul",
}


def reduction(
    op_type: str, axes: list[int] | None = None, *, noop: int = 1, opset: int = 18
) -> onnx.ModelProto:
    constants = {} if axes is None else {"axes": np.array(axes, np.int64)}
    nodes = [node(op_type, ["x", *constants], ["y"], name="r", noop_with_empty_axes=noop)]
    return model(nodes, [("x", [2, 3])], [("y", ["a", "b"])], constants, opset)


@pytest.mark.parametrize("axes", [None, []])
@pytest.mark.parametrize(
    ("op_type", "opset"),
    [
        ("ReduceMax", 18),
        ("ReduceMean", 18),
        ("ReduceMin", 18),
        ("ReduceProd", 18),
        ("ReduceSum", 18),
        ("ReduceSum", 13),
        ("ReduceL1", 18),
        ("ReduceL2", 18),
        ("ReduceLogSum", 18),
        ("ReduceLogSumExp", 18),
        ("ReduceSumSquare", 18),
    ],
)
def test_a_reduction_of_nothing_is_what_it_does_to_one_element(
    op_type: str, opset: int, axes: list[int] | None
) -> None:
    proto = reduction(op_type, axes, opset=opset)

    found, edited = finding(ReduceNoop(), proto)

    assert isinstance(found, Applied)
    assert [(n.name, n.op_type) for n in edited.graph.node] == [("r", SPELLED[op_type])]
    np.testing.assert_array_equal(run(edited, X)["y"], run(proto, X)["y"])


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(reduction("ReduceMax", [], noop=0), "it does reduce", id="noop-0"),
        pytest.param(reduction("ReduceMax", [0]), "at least one axis", id="axes"),
    ],
)
def test_one_that_reduces_is_skipped_with_a_reason(
    proto: onnx.ModelProto, reason: str
) -> None:
    assert reason in why_skipped(ReduceNoop(), proto)


def test_axes_that_are_fed_are_not_known() -> None:
    kind = onnx.TensorProto.INT64
    proto = model(
        [node("ReduceMax", ["x", "axes"], ["y"], noop_with_empty_axes=1)],
        [("x", [2, 3]), ("axes", ["N"], kind)],
        [("y", ["a", "b"])],
        opset=18,
    )

    found, _ = finding(ReduceNoop(), proto)

    assert isinstance(found, Skipped)
    assert "not known" in found.reason
