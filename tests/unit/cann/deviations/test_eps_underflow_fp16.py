"""Epsilons that fp16 loses. Rounding is the storage's; held to numpy in fp16 here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.emulation import FP32, IEEE, SATURATING, Linted, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

NAME = "eps-underflow-fp16"
X = np.array([[0, 0, 0, 0], [3, 0, 4, 0]], F32)


def normalised(epsilon: float, op_type: str = "Add", end: str = "Div") -> onnx.ModelProto:
    """Make x / (norm(x) + epsilon), of which the first row is 0."""
    guard = ["n", "e", ""] if op_type == "Clip" else ["n", "e"]
    nodes = [
        node("ReduceL2", ["x"], ["n"], axes=[-1]),
        node(op_type, guard, ["g"]),
        node("Expand", ["g", "shape"], ["w"]),
    ]
    if end == "Div":
        nodes.append(node("Div", ["x", "w"], ["y"]))
    else:
        nodes.append(node(end, ["w"], ["y"]))
    constants = {"e": np.array(epsilon, F32), "shape": np.array([2, 4])}
    return model(nodes, [("x", [2, 4])], [("y", [2, 4])], constants)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-12, 2.0**-25])
@pytest.mark.parametrize("op_type", ["Add", "Max", "Clip"])
def test_the_epsilon_is_zero_in_fp16(op_type: str, epsilon: float) -> None:
    proto = normalised(epsilon, op_type)
    assert np.float16(epsilon) == 0

    got = emulate(proto, {"x": X}, soc_version=IEEE)["y"]

    norms = np.array([[0], [5]], F32)
    with np.errstate(invalid="ignore"):
        wanted = (X / norms).astype(np.float16).astype(F32)
    np.testing.assert_array_equal(got, wanted)
    assert np.isnan(got[0]).all()
    assert (run(proto, {"x": X})["y"][0] == 0).all()


@pytest.mark.parametrize("op_type", ["Add", "Max", "Clip"])
@pytest.mark.parametrize("end", ["Div", "Log", "Sqrt", "Reciprocal"])
def test_lint_names_the_node(op_type: str, end: str) -> None:
    proto = normalised(1e-12, op_type, end)

    assert linted(proto) == [Linted("g", NAME, "precision")]


@pytest.mark.parametrize(
    ("proto", "config"),
    [
        pytest.param(normalised(1e-7), {}, id="fp16-keeps-it"),
        pytest.param(normalised(3e-8), {}, id="fp16-rounds-it-up"),
        pytest.param(normalised(0.0), {}, id="zero"),
        pytest.param(normalised(-1e-12), {}, id="below-zero"),
        pytest.param(normalised(1e-12, end="Relu"), {}, id="guards-nothing"),
        pytest.param(
            normalised(1e-12),
            FP32,
            id="fp32",
        ),
    ],
)
def test_lint_is_silent_about_others(
    proto: onnx.ModelProto, config: dict[str, str]
) -> None:
    assert linted(proto, **config) == []


@pytest.mark.parametrize("op_type", ["Add", "Max", "Clip"])
@pytest.mark.parametrize("soc_version", [IEEE, SATURATING])
def test_the_rule_keeps_the_division_from_zero(op_type: str, soc_version: str) -> None:
    proto = normalised(1e-12, op_type)
    raised = cured(proto, "raise-epsilon")

    got = emulate(raised, {"x": X}, soc_version=soc_version)["y"]

    # 3 / 5 and 4 / 5 rounded to fp16
    np.testing.assert_allclose(got, run(proto, {"x": X})["y"], rtol=2**-11)
    assert linted(raised, soc_version=soc_version) == []
