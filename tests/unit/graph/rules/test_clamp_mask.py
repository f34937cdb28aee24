from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.graph.promise import Difference
from ascendflow.graph.rules.clamp_mask import ClampMask
from tests.editing import applied, constants, edited, why_skipped
from tests.models import F32, masked_softmax, model, node, run

if TYPE_CHECKING:
    import onnx

LOW = np.finfo(F32).min
CAUSAL = np.where(np.tri(4), 0, LOW).astype(F32)


def attention(mask: np.ndarray, op_type: str = "Add", softmax: int = -1) -> onnx.ModelProto:
    inputs = ["keep", "x", "mask"] if op_type == "Where" else ["x", "mask"]
    nodes = [
        node(op_type, inputs, ["z"], name="masking"),
        node("Softmax", ["z"], ["y"], axis=softmax),
    ]
    numbers = {"mask": mask}
    if op_type == "Where":
        numbers["keep"] = np.tri(4).astype(bool)
    return model(nodes, [("x", [2, 4, 4])], [("y", [2, 4, 4])], numbers)


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(attention(CAUSAL), id="add"),
        pytest.param(attention(-CAUSAL, "Sub"), id="sub"),
        pytest.param(attention(np.array(LOW), "Where"), id="where"),
        pytest.param(attention(np.array(-np.inf, F32), "Where"), id="where-inf"),
    ],
)
def test_outputs_stay_and_the_constant_fits_fp16(proto: onnx.ModelProto) -> None:
    x = {"x": (np.random.default_rng(0).standard_normal((2, 4, 4)) * 50).astype(F32)}

    after = applied(ClampMask(), proto)

    sizes = [np.abs(a).max() for a in constants(after).values() if a.dtype == F32]
    assert sizes == [3e4]
    np.testing.assert_array_equal(run(after, x)["y"], run(proto, x)["y"])


def test_one_minus_mask_times_a_constant_is_a_mask() -> None:
    proto = masked_softmax()
    feeds = {
        "x": np.random.default_rng(0).standard_normal((2, 4)).astype(F32),
        "mask": np.array([[1, 1, 0, 0], [1, 1, 1, 1]], F32),
    }

    after = applied(ClampMask(), proto)

    np.testing.assert_array_equal(run(after, feeds)["y"], run(proto, feeds)["y"])


def test_a_row_with_nothing_left_does_change_and_the_promise_says_so() -> None:
    mask = np.full((4, 4), LOW, F32)
    proto, x = attention(mask), {"x": np.ones((2, 4, 4), F32) * np.arange(4, dtype=F32)}
    difference = Difference()

    difference.add("x", run(proto, x)["y"], run(applied(ClampMask(), proto), x)["y"])

    assert difference.why_broken("equivalent") is not None


def test_elements_between_keep_their_order() -> None:
    mask = np.array([0, -5e4, -1e9, -65504], F32)

    after = applied(ClampMask(), attention(mask))

    assert constants(after)["mask/clamped"].tolist() == [0, -5e4, -65504, -65504]


def test_layers_that_share_a_mask_share_the_new_one() -> None:
    nodes, last = [], "x"
    for layer in range(3):
        nodes += [
            node("Add", [last, "mask"], [f"z{layer}"]),
            node("Softmax", [f"z{layer}"], [f"y{layer}"]),
        ]
        last = f"y{layer}"
    proto = model(nodes, [("x", [4, 4])], [(last, [4, 4])], {"mask": CAUSAL})

    findings, after = edited(ClampMask(), proto)

    assert len(findings) == 3
    assert list(constants(after)) == ["mask/clamped"]


@pytest.mark.parametrize("mask", [np.full((4, 4), -1e4, F32), np.zeros((4, 4), F32)])
def test_a_mask_that_fits_is_skipped(mask: np.ndarray) -> None:
    assert why_skipped(ClampMask(), attention(mask)) == "no constant is beyond +-65504"


@pytest.mark.parametrize("end", ["Relu", "LogSoftmax"])
def test_what_does_not_end_in_softmax_is_not_touched(end: str) -> None:
    proto = attention(CAUSAL)
    proto.graph.node[1].op_type = end
    del proto.graph.node[1].attribute[:]

    findings, after = edited(ClampMask(), proto)

    assert findings == []
    assert after.graph.node == proto.graph.node


def test_a_factor_without_a_sum_is_no_mask() -> None:
    findings, _ = edited(ClampMask(), attention(CAUSAL, "Mul"))

    assert findings == []
