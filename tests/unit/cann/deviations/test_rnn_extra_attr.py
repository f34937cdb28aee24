"""GRU and LSTM with attributes that CANN does not read, against ONNX without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, Linted, convert, emulate, linted
from tests.models import F32, model, node, run
from tests.recurrent import BATCH, HIDDEN, INPUT, STEPS, X, gru, initial, stepped, weights

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

FEEDS = {"x": X}


def lstm(**attributes: Any) -> onnx.ModelProto:
    y: tuple[str, list[str | int]] = ("y", ["s", 1, "b", HIDDEN])
    return model(
        [
            node(
                "LSTM",
                ["x", "w", "r", "b"],
                ["y"],
                name="lstm",
                hidden_size=HIDDEN,
                **attributes,
            )
        ],
        [("x", [STEPS, BATCH, INPUT])],
        [y],
        weights(1, gates=4),
        opset=14,
    )


def plain_lstm() -> np.ndarray:
    """Step through ONNX's LSTM equations, gates in the order i, o, f, c, in fp64."""
    w, r, b = (weights(1, gates=4)[name][0].astype(np.float64) for name in "wrb")
    h, c = np.zeros((2, BATCH, HIDDEN))
    made = []
    for x in X:
        sums = x @ w.T + h @ r.T + b[: 4 * HIDDEN] + b[4 * HIDDEN :]
        i, o, f, g = np.split(sums, 4, axis=1)
        i, o, f = (1 / (1 + np.exp(-part)) for part in (i, o, f))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        made.append(h)
    return np.array(made)[:, None]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param({"activations": ["HardSigmoid", "Tanh"]}, id="activations"),
        pytest.param({"activations": ["Sigmoid", "Relu"]}, id="relu"),
        pytest.param({"clip": 0.5}, id="clip"),
    ],
)
def test_a_gru_is_computed_with_the_defaults(kind: dict[str, Any]) -> None:
    proto = gru(linear_before_reset=1, **kind)

    y = emulate(proto, FEEDS, **FP32)["y"]

    expected = stepped(after=True)["y"]
    np.testing.assert_allclose(y, expected, rtol=0, atol=2e-6)  # fp32 against fp64
    assert np.abs(y - run(proto, FEEDS)["y"]).max() > 0.03
    assert linted(proto) == [Linted("gru", "rnn-extra-attr", "silent")]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param({"activations": ["Sigmoid", "Tanh", "Relu"]}, id="activations"),
        pytest.param({"input_forget": 1}, id="input-forget"),
        pytest.param({"clip": 0.5}, id="clip"),
    ],
)
def test_an_lstm_is_computed_with_the_defaults(kind: dict[str, Any]) -> None:
    proto = lstm(**kind)

    y = emulate(proto, FEEDS, **FP32)["y"]

    np.testing.assert_allclose(y, plain_lstm(), rtol=0, atol=2e-6)  # fp32 against fp64
    assert np.abs(y - run(proto, FEEDS)["y"]).max() > 0.03
    assert linted(proto) == [Linted("lstm", "rnn-extra-attr", "silent")]


def test_layout_1_reads_the_batch_as_time(tmp_path: Path) -> None:
    proto = gru(linear_before_reset=1, layout=1, outputs=("y",))
    states = gru(
        linear_before_reset=1,
        layout=1,
        inputs=("x", "w", "r", "b", "", "h"),
        extra={"h": initial(1)[0][:, None].repeat(1, 1)},
    )

    y = emulate(proto, FEEDS, **FP32)["y"]

    np.testing.assert_allclose(y, stepped(after=True)["y"], rtol=0, atol=2e-6)
    assert linted(proto) == [Linted("gru", "rnn-extra-attr", "silent")]
    assert linted(states) == [Linted("gru", "rnn-extra-attr", "unknown")]
    with pytest.raises(NotModelledError, match=r"'gru'.*layout 1"):
        convert(states, tmp_path, **FP32)


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(gru(linear_before_reset=1), id="gru"),
        pytest.param(
            gru(linear_before_reset=1, activations=["sigmoid", "tanh"]), id="gru-defaults"
        ),
        pytest.param(
            gru(linear_before_reset=1, directions=2, activations=["Sigmoid", "Tanh"] * 2),
            id="gru-both-directions",
        ),
        pytest.param(lstm(), id="lstm"),
        pytest.param(lstm(activations=["Sigmoid", "Tanh", "Tanh"]), id="lstm-defaults"),
        pytest.param(lstm(input_forget=0, layout=0), id="zeros"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto) -> None:
    assert linted(proto) == []
    assert X.dtype == F32
    name = proto.graph.output[0].name
    np.testing.assert_array_equal(
        emulate(proto, FEEDS, **FP32)[name], run(proto, FEEDS)[name]
    )
