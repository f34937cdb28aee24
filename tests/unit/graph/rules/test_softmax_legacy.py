from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.logsoftmax_legacy import LogSoftmaxLegacy
from ascendflow.graph.rules.softmax_legacy import SoftmaxLegacy
from tests.editing import finding
from tests.models import F32, Spec, model, node, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

RULES = {"Softmax": SoftmaxLegacy(), "LogSoftmax": LogSoftmaxLegacy()}


def normalised(
    op_type: str, shape: Sequence[int | str], opset: int = 11, **axis: Any
) -> onnx.ModelProto:
    nodes = [node(op_type, ["x"], ["y"], name="n", **axis)]
    return model(nodes, [("x", shape)], [("y", shape)], opset=opset)


@pytest.mark.parametrize("op_type", RULES)
@pytest.mark.parametrize("opset", [9, 11, 12])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        pytest.param((6, 5), {"axis": 0}, id="rank-2"),
        pytest.param((2, 3, 4), {}, id="default"),
        pytest.param((2, 3, 4), {"axis": 0}, id="all"),
        pytest.param((2, 3, 4, 5), {"axis": 2}, id="axis-2"),
        pytest.param(("N", 3, 4), {"axis": 1}, id="dynamic"),
        pytest.param(("N", "M", 4), {"axis": 0}, id="dynamic-twice"),
        pytest.param((0, 3, 4), {"axis": 1}, id="empty"),
    ],
)
def test_the_coercion_is_spelled_out_and_values_are_the_same_bits(
    op_type: str, opset: int, shape: tuple[int | str, ...], axis: dict[str, int]
) -> None:
    proto = normalised(op_type, shape, opset, **axis)

    found, edited = finding(RULES[op_type], proto)

    assert isinstance(found, Applied)
    assert found.after == {"op_types": ["Flatten", op_type, "Reshape"]}
    assert edited.graph.node[-1].name == "n"
    lengths = [3 if isinstance(length, str) else length for length in shape]
    x = {"x": np.random.default_rng(0).standard_normal(lengths).astype(F32)}
    np.testing.assert_array_equal(run(edited, x)["y"], run(proto, x)["y"])


@pytest.mark.parametrize("op_type", RULES)
@pytest.mark.parametrize(
    ("shape", "opset", "axis", "reason"),
    [
        pytest.param((2, 3), 11, {}, "axis 1 is the last", id="default-of-rank-2"),
        pytest.param((2, 3, 4), 11, {"axis": -1}, "axis 2 is the last", id="last"),
        pytest.param((2, 3, 4), 13, {"axis": 0}, "opset 13 does not coerce", id="opset-13"),
    ],
)
def test_a_node_that_does_not_coerce_is_skipped_with_a_reason(
    op_type: str, shape: tuple[int, ...], opset: int, axis: dict[str, int], reason: str
) -> None:
    proto = normalised(op_type, shape, opset, **axis)

    found, edited = finding(RULES[op_type], proto)

    assert isinstance(found, Skipped)
    assert reason in found.reason
    assert edited.graph.node == proto.graph.node


def test_an_unknown_rank_is_skipped() -> None:
    """As behind a Reshape to a shape that is fed."""
    nodes = [node("Reshape", ["x", "s"], ["r"]), node("Softmax", ["r"], ["y"])]
    inputs: list[Spec] = [("x", [6]), ("s", ["rank"], TensorProto.INT64)]
    proto = model(nodes, inputs, [("y", ["a", "b"])], opset=11)

    found, _ = finding(SoftmaxLegacy(), proto)

    assert isinstance(found, Skipped)
    assert found.reason == "the rank of its input is not known"
