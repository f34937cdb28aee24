"""GRU graphs for tests, and a plain GRU in numpy that steps through time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.models import F32, model, node

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

STEPS, BATCH, INPUT, HIDDEN = 5, 2, 3, 4
X = np.random.default_rng(1).standard_normal((STEPS, BATCH, INPUT)).astype(F32)


def weights(directions: int, gates: int = 3) -> dict[str, np.ndarray]:
    """Make W, R and B, large enough for the gates to matter."""
    rng = np.random.default_rng(0)
    return {
        "w": rng.standard_normal((directions, gates * HIDDEN, INPUT)).astype(F32),
        "r": rng.standard_normal((directions, gates * HIDDEN, HIDDEN)).astype(F32),
        "b": rng.standard_normal((directions, 2 * gates * HIDDEN)).astype(F32),
    }


def initial(directions: int) -> np.ndarray:
    """Make initial_h."""
    return np.random.default_rng(2).standard_normal((directions, BATCH, HIDDEN)).astype(F32)


def gru(
    *,
    directions: int = 1,
    inputs: Sequence[str] = ("x", "w", "r", "b"),
    outputs: Sequence[str] = ("y", "y_h"),
    shape: Sequence[int | str] = (STEPS, BATCH, INPUT),
    extra: dict[str, np.ndarray] | None = None,
    opset: int = 14,
    **attributes: Any,
) -> onnx.ModelProto:
    """Make one GRU called "gru" from x; weights and `extra` are constants."""
    made = weights(directions)
    known = {name: array for name, array in made.items() if name in inputs} | (extra or {})
    shapes: dict[str, list[int | str]] = {
        "y": ["s", directions, "b", HIDDEN],
        "y_h": [directions, "b", HIDDEN],
    }
    if directions == 2:
        attributes["direction"] = "bidirectional"
    return model(
        [node("GRU", inputs, outputs, name="gru", hidden_size=HIDDEN, **attributes)],
        [("x", shape)],
        [(name, shapes[name]) for name in outputs if name],
        known,
        opset,
    )


def stepped(
    direction: str = "forward",
    *,
    after: bool,
    bias: bool = True,
    first: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Run ONNX's GRU equations in fp64, one step after the other, over X.

    Args:
        direction: forward, reverse or bidirectional.
        after: the reset gate is applied after the product with R, bias included.
        bias: B is there.
        first: initial_h.
    """
    count = 2 if direction == "bidirectional" else 1
    w, r, b = (weights(count)[name].astype(np.float64) for name in "wrb")
    y = np.zeros((STEPS, count, BATCH, HIDDEN))
    last = np.zeros((count, BATCH, HIDDEN))
    for d in range(count):
        wz, wr, wn = np.split(w[d], 3)
        rz, rr, rn = np.split(r[d], 3)
        bias_of = np.split(b[d] if bias else b[d] * 0, 6)
        h = np.zeros((BATCH, HIDDEN)) if first is None else first[d].astype(np.float64)
        backwards = direction == "reverse" or d == 1
        for t in range(STEPS)[:: -1 if backwards else 1]:
            z = _sigmoid(X[t] @ wz.T + h @ rz.T + bias_of[0] + bias_of[3])
            reset = _sigmoid(X[t] @ wr.T + h @ rr.T + bias_of[1] + bias_of[4])
            if after:
                memory = reset * (h @ rn.T + bias_of[5])
            else:
                memory = (reset * h) @ rn.T + bias_of[5]
            n = np.tanh(X[t] @ wn.T + bias_of[2] + memory)
            h = (1 - z) * n + z * h
            y[t, d] = h
        last[d] = h
    return {"y": y, "y_h": last}


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))
