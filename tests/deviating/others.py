"""What has no family."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.deviating.case import NEW, OLD, ON_310, Case, Cases, one
from tests.models import F32, model, node
from tests.recurrent import gru

if TYPE_CHECKING:
    import onnx


def gelu() -> onnx.ModelProto:
    """Make the five nodes that are fused to Gelu."""
    nodes = [
        node("Div", ["x", "root"], ["d"]),
        node("Erf", ["d"], ["e"]),
        node("Add", ["e", "one"], ["a"], name="n"),
        node("Mul", ["x", "a"], ["m"]),
        node("Mul", ["m", "half"], ["y"]),
    ]
    numbers = {"root": np.sqrt(2), "one": 1, "half": 0.5}
    constants = {name: np.array(number, F32) for name, number in numbers.items()}
    return model(nodes, [("x", [2, 4])], [("y", [2, 4])], constants)


def sampled() -> onnx.ModelProto:
    """Make a GridSample without attributes."""
    grid = np.linspace(-1, 1, 18, dtype=F32).reshape(1, 3, 3, 2)
    return one("GridSample", ["x", "grid"], {"grid": grid}, x=(1, 2, 4, 5), opset=16)


def rest() -> Cases:
    """Give the others."""
    square = one("Einsum", ["x", "w"], {"w": np.ones((4, 3), F32)}, equation="ij,jk->ik")
    powers = {
        number: one("Pow", ["x", "p"], {"p": np.array(number, F32)}) for number in (3, 0.5)
    }
    local = one("LRN", ["x"], x=(2, 4, 3, 3), size=4, opset=13)
    legacy = {
        name: one(name, ["x"], x=(2, 3, 4), opset=11, axis=0)
        for name in ("LogSoftmax", "Softmax")
    }
    flat = one("Softmax", ["x"], x=(6, 5), opset=11, axis=0)
    return {
        ("clip-unbounded", "Clip"): [Case(one("Clip", ["x"], opset=15), {})],
        ("gridsample-attr", "GridSample"): [Case(sampled(), NEW)],
        ("gru-lbr0", "GRU"): [Case(gru(), {}), Case(gru(directions=2), {})],
        ("gru-reverse", "GRU"): [Case(gru(direction="reverse", linear_before_reset=1), {})],
        ("logsoftmax-legacy-axis", "LogSoftmax"): [Case(legacy["LogSoftmax"], {})],
        ("softmax-legacy-axis", "Softmax"): [Case(flat, {})],
        ("lrn-even", "LRN"): [Case(local, OLD), Case(local, NEW)],
        ("einsum-no-kernel", "Einsum"): [Case(square, {})],
        ("pow-square", "Pow"): [Case(powers[3], ON_310)],
        ("pow-logarithm", "Pow"): [Case(powers[0.5], ON_310)],
        ("gelu-tanh", "Add"): [Case(gelu(), {})],
    }
