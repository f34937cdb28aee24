from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.graph.rules.raise_epsilon import RaiseEpsilon
from tests.editing import applied, constants, edited, why_skipped
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx


def inverse(epsilon: float, op_type: str = "Add", end: str = "Sqrt") -> onnx.ModelProto:
    inputs = ["x", "e"] if op_type != "Clip" else ["x", "e", "high"]
    nodes = [node(op_type, inputs, ["g"]), node(end, ["g"], ["s"])]
    nodes.append(node("Reciprocal", ["s"], ["y"]))
    numbers = {"e": np.array(epsilon, F32)}
    if op_type == "Clip":
        numbers["high"] = np.array(1e-30, F32)
    return model(nodes, [("x", [3])], [("y", [3])], numbers)


@pytest.mark.parametrize("op_type", ["Add", "Max"])
@pytest.mark.parametrize("epsilon", [1e-45, 1e-12, 1e-8, 2.0**-25])
def test_the_smallest_fp16_number_takes_its_place(op_type: str, epsilon: float) -> None:
    after = applied(RaiseEpsilon(), inverse(epsilon, op_type))

    assert constants(after)["e/raised"].item() == 2.0**-24


def test_values_far_from_zero_stay_within_rounding() -> None:
    proto, x = inverse(1e-12), {"x": np.array([0.5, 1, 2], F32)}

    after = applied(RaiseEpsilon(), proto)

    np.testing.assert_allclose(run(after, x)["y"], run(proto, x)["y"], rtol=1e-7)


def test_the_upper_bound_of_a_clip_is_no_epsilon() -> None:
    after = applied(RaiseEpsilon(), inverse(1e-12, "Clip"))

    assert set(constants(after)) == {"e/raised", "high"}


@pytest.mark.parametrize("epsilon", [0.0, 3e-8, 1e-7, 1e-5])
def test_what_fp16_keeps_is_skipped(epsilon: float) -> None:
    assert why_skipped(RaiseEpsilon(), inverse(epsilon)) == "fp16 holds its constants"


def test_what_guards_nothing_is_not_looked_at() -> None:
    proto = inverse(1e-12, end="Relu")
    proto.graph.node[2].op_type = "Relu"

    findings, after = edited(RaiseEpsilon(), proto)

    assert findings == []
    assert after.graph.node == proto.graph.node
