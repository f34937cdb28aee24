from __future__ import annotations

import numpy as np
import onnx
import pytest

from ascendflow.graph.promise import Difference
from ascendflow.graph.rules.pow_to_sqrt import PowToSqrt
from tests.editing import applied, why_skipped
from tests.models import F32, model, node, run

EXPONENTS = [0.5, -0.5, -1, -2, 1.5, 4]
STEPS = {
    0.5: ["Sqrt"],
    -0.5: ["Add", "Sqrt", "Reciprocal"],
    -1: ["Reciprocal"],
    -2: ["Mul", "Reciprocal"],
    1.5: ["Sqrt", "Mul"],
    4: ["Mul", "Mul"],
}
RANDOM = np.random.default_rng(0)
SIZES = RANDOM.standard_normal(5000) * 10.0 ** RANDOM.integers(-9, 9, 5000)
X = np.concatenate([SIZES, [0, -0.0, np.inf, np.nan, 1]]).astype(F32)


def power(exponent: float, dtype: type = F32) -> onnx.ModelProto:
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    constants: dict[str, np.ndarray] = {"p": np.array(exponent, dtype)}
    nodes = [node("Pow", ["x", "p"], ["y"])]
    return model(nodes, [("x", [X.size], kind)], [("y", [X.size], kind)], constants)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_values_stay_equivalent(exponent: float) -> None:
    proto = power(exponent)

    after = applied(PowToSqrt(), proto)

    assert [n.op_type for n in after.graph.node] == STEPS[exponent]
    before, got = run(proto, {"x": X})["y"], run(after, {"x": X})["y"]
    difference = Difference()
    difference.add("x", before, got)
    assert difference.why_broken("equivalent") is None
    # two roundings more than one spelling has
    np.testing.assert_allclose(got, before, rtol=2**-17)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_near_one_they_are_a_few_ulp_apart(exponent: float) -> None:
    proto, x = power(exponent), np.linspace(0.5, 2, X.size, dtype=F32)

    got = run(applied(PowToSqrt(), proto), {"x": x})["y"]

    np.testing.assert_allclose(got, run(proto, {"x": x})["y"], rtol=2**-22)


def test_fp16_models_get_fp16_constants() -> None:
    after = applied(PowToSqrt(), power(-0.5, np.float16))

    assert {t.data_type for t in after.graph.initializer if t.name != "p"} == {
        onnx.TensorProto.FLOAT16
    }


@pytest.mark.parametrize("exponent", [2, 3, 0.25])
def test_other_exponents_are_skipped(exponent: float) -> None:
    assert f"its exponent is {exponent:g}" in why_skipped(PowToSqrt(), power(exponent))


def test_an_exponent_that_is_fed_is_skipped() -> None:
    nodes = [node("Pow", ["x", "p"], ["y"])]
    proto = model(nodes, [("x", [4]), ("p", [])], [("y", [4])])

    assert "constant" in why_skipped(PowToSqrt(), proto)
