from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.gru_unrolled import GruUnrolled
from tests.editing import finding, why_skipped
from tests.models import model, node, run
from tests.recurrent import BATCH, HIDDEN, INPUT, STEPS, X, gru, initial, weights

FEEDS = {"x": X}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param({}, id="forward"),
        pytest.param({"direction": "reverse"}, id="reverse"),
        pytest.param(
            {"direction": "reverse", "linear_before_reset": 1}, id="reverse-after"
        ),
        pytest.param({"directions": 2}, id="bidirectional"),
        pytest.param({"inputs": ("x", "w", "r")}, id="no-bias"),
        pytest.param({"outputs": ("y",)}, id="only-y"),
        pytest.param({"outputs": ("", "y_h")}, id="only-y-h"),
        pytest.param({"opset": 9}, id="opset-9"),
        pytest.param({"activations": ["Sigmoid", "Tanh"]}, id="activations"),
        pytest.param({"activations": ["sigmoid", "TANH"]}, id="activations-case"),
    ],
)
@pytest.mark.parametrize("first", [False, True], ids=["zeros", "initial-h"])
def test_the_unrolled_gru_is_equivalent(kind: dict[str, Any], first: bool) -> None:
    if first:
        given = (*kind.get("inputs", ("x", "w", "r", "b")), "", "")[:4]
        state = initial(kind.get("directions", 1))
        kind = kind | {"inputs": (*given, "", "h"), "extra": {"h": state}}
    proto = gru(**kind)

    found, edited = finding(GruUnrolled(), proto)

    assert isinstance(found, Applied)
    onnx.checker.check_model(edited, full_check=True)
    assert "GRU" not in {n.op_type for n in edited.graph.node}
    made, right = run(edited, FEEDS), run(proto, FEEDS)
    assert list(made) == list(right)
    for name, expected in right.items():
        limit = 1e-5 * np.ptp(expected)  # what `equivalent` promises
        np.testing.assert_allclose(made[name], expected, rtol=0, atol=limit)


def test_two_unnamed_outputs_do_not_collide() -> None:
    """Both leave out Y, after which what is added is named."""
    size = {"hidden_size": HIDDEN}
    known = weights(1)
    proto = model(
        [
            node("GRU", ["x", "w", "r"], ["", "one"], name="first", **size),
            node("GRU", ["x", "w", "r", "b"], ["", "two"], name="second", **size),
        ],
        [("x", [STEPS, BATCH, INPUT])],
        [("one", [1, BATCH, HIDDEN]), ("two", [1, BATCH, HIDDEN])],
        known,
        opset=14,
    )
    edited = ir.from_proto(proto)

    found = GruUnrolled()(edited)

    assert all(isinstance(each, Applied) for each in found)
    made, right = run(ir.to_proto(edited), FEEDS), run(proto, FEEDS)
    for name, expected in right.items():
        np.testing.assert_allclose(made[name], expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(
            gru(linear_before_reset=1),
            "linear_before_reset is 1, direction 'forward'",
            id="after",
        ),
        pytest.param(
            gru(shape=("T", BATCH, INPUT)), "shape of X is not known", id="dynamic"
        ),
        pytest.param(gru(shape=(5, "N", INPUT)), "shape of X is not known", id="batch"),
        pytest.param(
            gru(shape=(257, BATCH, INPUT)), "257 steps are more than 256", id="long"
        ),
        pytest.param(gru(clip=1.0), "clip is set", id="clip"),
        pytest.param(gru(layout=1), "layout is 1", id="layout"),
        pytest.param(
            gru(activations=["Sigmoid", "Relu"]), "activations are Sigmoid, Relu", id="relu"
        ),
        pytest.param(
            gru(
                inputs=("x", "w", "r", "b", "lens"),
                extra={"lens": np.array([5, 3], np.int32)},
            ),
            "it has sequence_lens",
            id="sequence-lens",
        ),
    ],
)
def test_what_cannot_be_unrolled_is_skipped_with_a_reason(
    proto: onnx.ModelProto, reason: str
) -> None:
    assert reason in why_skipped(GruUnrolled(), proto)


def test_weights_that_are_fed_are_skipped() -> None:
    proto = gru()
    proto.graph.input.append(
        onnx.helper.make_tensor_value_info(
            "w", onnx.TensorProto.FLOAT, [1, 3 * HIDDEN, INPUT]
        )
    )

    found, _ = finding(GruUnrolled(), proto)

    assert isinstance(found, Skipped)
    assert found.reason == "its weights are not constants"
