"""Pow on 310 against a transcription of dynamic/pow.py, written here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.emulation import IEEE, Linted, cured, emulate, linted
from tests.halves import clipped_half
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

OLD = {"soc_version": "Ascend310"}
WIDE_310 = {**OLD, "precision_mode": "must_keep_origin_dtype"}
X = np.array([[-40, -5, -2.5, -1, -0.125, 0, 0.001, 0.125, 1, 2.5, 7.3, 40, 300]], F32)


def power(exponent: object, dtype: type = F32, opset: int = 17) -> onnx.ModelProto:
    shape = list(X.shape)
    constants: dict[str, np.ndarray] = {"p": np.array(exponent, dtype)}
    nodes = [node("Pow", ["x", "p"], ["y"])]
    return model(nodes, [("x", shape)], [("y", shape)], constants, opset)


def h(value: object) -> np.ndarray:
    return clipped_half(value, np.float64)


def kernel(x: np.ndarray, y: float) -> np.ndarray:
    """pow_compute where vdiv, vln and vexp have no fp32: all of it in fp16."""
    x, y = h(x), float(h(y))
    is_zero = x == 0
    risen = h(np.exp(h(y * h(np.log(np.abs(x) + is_zero)))))
    sign = np.where(x < 0, h(1 - h(2 * (abs(y) % 2))), 1)
    return np.where(is_zero, float(y == 0), h(risen * sign)).astype(F32)


@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0, 0.3, 0.5, 1, 1.5, 2.5, 3, 4, 5])
@pytest.mark.parametrize("config", [OLD, WIDE_310], ids=["fp16", "fp32"])
@pytest.mark.parametrize("opset", [9, 17])
def test_every_step_is_fp16(exponent: float, config: dict[str, str], opset: int) -> None:
    got = emulate(power(exponent, opset=opset), {"x": X}, **config)["y"]

    # log and exp of onnxruntime are fp32: before rounding they may be an ulp off numpy's
    np.testing.assert_allclose(got, kernel(X, exponent), rtol=2e-2, atol=1e-6)
    assert (got == kernel(X, exponent)).mean() > 0.9


def test_the_cube_is_off_where_onnx_is_not() -> None:
    got = emulate(power(3), {"x": X}, **OLD)["y"]

    exact = run(power(3), {"x": X})["y"]
    within = np.abs(exact) < 65504
    assert np.abs(got - exact)[within].max() > 60  # of 64000


def test_at_zero_a_negative_power_is_zero_not_infinite() -> None:
    zero = np.zeros_like(X)

    assert (emulate(power(-1), {"x": zero}, **OLD)["y"] == 0).all()
    assert np.isinf(run(power(-1), {"x": zero})["y"]).all()


@pytest.mark.parametrize("config", [OLD, WIDE_310], ids=["fp16", "fp32"])
def test_lint_names_the_pow(config: dict[str, str]) -> None:
    assert linted(power(3), **config) == [Linted("y", "pow-square", "precision")]


@pytest.mark.parametrize(
    ("proto", "config"),
    [
        pytest.param(power(2), OLD, id="becomes-square"),
        pytest.param(power([2]), OLD, id="becomes-square-too"),
        pytest.param(power(3), {"soc_version": "Ascend310P3"}, id="310P"),
        pytest.param(power(3), {"soc_version": IEEE}, id="910B"),
    ],
)
def test_lint_is_silent_where_it_is_a_square_or_fp32(
    proto: onnx.ModelProto, config: dict[str, str]
) -> None:
    assert linted(proto, **config) == []


def test_two_as_a_tensor_does_not_become_square() -> None:
    two = power([2] * X.size)

    assert linted(two, **OLD) == [Linted("y", "pow-logarithm", "precision")]


@pytest.mark.parametrize("exponent", [0, 0.5, 2.5, -1, 4])
def test_an_exponent_that_is_no_product_has_a_name_of_its_own(exponent: float) -> None:
    assert linted(power(exponent), **OLD) == [Linted("y", "pow-logarithm", "precision")]


@pytest.mark.parametrize(
    ("exponent", "rule"), [(3, "pow-to-mul"), (0.5, "pow-to-sqrt"), (-1, "pow-to-sqrt")]
)
def test_the_rules_do_without_a_logarithm(exponent: float, rule: str) -> None:
    x = np.abs(X) + F32(0.125)
    proto = power(exponent)
    wanted = run(proto, {"x": x})["y"]

    before = emulate(proto, {"x": x}, **WIDE_310)["y"]
    after = emulate(cured(proto, rule), {"x": x}, **WIDE_310)["y"]

    inside = wanted < 65504
    assert np.abs(before - wanted)[inside].max() > 1e-3
    # fp32 throughout: an ulp between two spellings
    np.testing.assert_allclose(after, wanted, rtol=3e-7)
