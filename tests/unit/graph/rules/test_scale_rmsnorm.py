from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.graph.rules.scale_rmsnorm import ScaleRmsnorm
from tests.editing import applied, edited, why_skipped
from tests.models import F32, Spec, layer_norm, model, node, run

if TYPE_CHECKING:
    import onnx

X = (np.random.default_rng(0).standard_normal((2, 3, 64)) * 500).astype(F32)


def rms_norm(
    square: str = "Mul", epsilon: float = 1e-5, opset: int = 17, keep: str | None = None
) -> onnx.ModelProto:
    squaring = node("Pow", ["x", "two"], ["s"])
    if square == "Mul":
        squaring = node("Mul", ["x", "x"], ["s"])
    axes = {"axes": [-1]} if opset < 18 else {}
    mean = ["s"] if opset < 18 else ["s", "last"]
    nodes = [
        squaring,
        node("ReduceMean", mean, ["m"], keepdims=1, **axes),
        node("Add", ["m", "e"], ["v"]),
        node("Sqrt", ["v"], ["r"]),
        node("Div", ["x", "r"], ["y"]),
    ]
    constants: dict[str, np.ndarray] = {
        "two": np.array(2, F32),
        "e": np.array(epsilon, F32),
        "last": np.array([-1], np.int64),
    }
    outputs: list[Spec] = [("y", X.shape)]
    if keep is not None:
        outputs.append((keep, X.shape if keep == "s" else (2, 3, 1)))
    return model(nodes, [("x", X.shape)], outputs, constants, opset)


@pytest.mark.parametrize("square", ["Mul", "Pow"])
@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("scale", [2, 4, 16])
def test_every_bit_stays(square: str, opset: int, scale: int) -> None:
    proto = rms_norm(square, opset=opset)

    after = applied(ScaleRmsnorm(scale), proto)

    kinds = [n.op_type for n in after.graph.node]
    assert kinds == ["Mul", "Mul", "ReduceMean", "Add", "Sqrt", "Mul", "Div"]
    for x in (X, X / F32(1e5), np.zeros_like(X)):
        np.testing.assert_array_equal(run(after, {"x": x})["y"], run(proto, {"x": x})["y"])


@pytest.mark.parametrize("keep", ["s", "m", "v"])
def test_a_value_that_is_an_output_stays_one(keep: str) -> None:
    proto = rms_norm(keep=keep)

    after = applied(ScaleRmsnorm(4), proto)

    got, wanted = run(after, {"x": X}), run(proto, {"x": X})
    np.testing.assert_array_equal(got[keep], wanted[keep])
    np.testing.assert_array_equal(got["y"], wanted["y"])


def test_a_layer_norm_of_single_operators_is_one_too() -> None:
    findings, after = edited(ScaleRmsnorm(4), layer_norm())

    assert len(findings) == 1
    x = X[:1, :2, :16]
    np.testing.assert_array_equal(
        run(after, {"x": x})["y"], run(layer_norm(), {"x": x})["y"]
    )


@pytest.mark.parametrize(
    ("epsilon", "scale", "refused"), [(1e-5, 16, False), (1e-5, 32, True), (1e-6, 8, True)]
)
def test_an_epsilon_must_not_vanish(epsilon: float, scale: int, refused: bool) -> None:
    assert (np.float16(epsilon / scale**2) == 0) == refused
    proto = rms_norm(epsilon=epsilon)

    if refused:
        assert f"{epsilon:g} / {scale}^2 to 0" in why_skipped(ScaleRmsnorm(scale), proto)
    else:
        applied(ScaleRmsnorm(scale), proto)


def test_another_root_is_skipped() -> None:
    proto = rms_norm()
    proto.graph.node[0].input[1] = "two"

    assert why_skipped(ScaleRmsnorm(4), proto) == "its mean is not that of squares"
    proto.graph.node[3].input[0] = "m"
    assert "not the root of a sum" in why_skipped(ScaleRmsnorm(4), proto)
