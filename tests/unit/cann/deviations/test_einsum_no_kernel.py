from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir
import pytest

from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from tests.emulation import FP32, Linted, cured, emulate, linted, target
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

NAME = "einsum-no-kernel"


def einsum(equation: str, *operands: str) -> onnx.ModelProto:
    """Make an Einsum of operands whose letters are all 4 long."""
    inputs = [(f"x{k}", [4] * len(each)) for k, each in enumerate(operands)]
    made = node("Einsum", [name for name, _ in inputs], ["y"], equation=equation)
    out = equation.partition("->")[2]
    return model([made], inputs, [("y", [4] * len(out))])


def feeds(proto: onnx.ModelProto) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in proto.graph.input
    }
    return {
        name: random.standard_normal(shape).astype(F32) for name, shape in shapes.items()
    }


def test_in_fp16_it_is_named() -> None:
    assert linted(einsum("bhwc,hkc->bhwk", "bhwc", "hkc")) == [
        Linted("y", NAME, "precision")
    ]
    assert linted(einsum("ij,jk,kl->il", "ij", "jk", "kl")) == [
        Linted("y", NAME, "precision")
    ]


@pytest.mark.parametrize(
    ("equation", "operands", "words"),
    [
        pytest.param("ij,jk->ik", ["ij", "jk"], "a pass may make a MatMul", id="two"),
        pytest.param("ij->ji", ["ij"], "a pass may make a MatMul", id="one"),
        pytest.param("ij,jk", ["ij", "jk"], "no pass takes it", id="no-arrow"),
        pytest.param("ij,jk,kl->il", ["ij", "jk", "kl"], "no pass takes it", id="three"),
    ],
)
def test_it_says_whether_a_pass_may_take_it(
    equation: str, operands: list[str], words: str
) -> None:
    proto = einsum("->".join([",".join(operands), "ij"]), *operands)
    proto.graph.node[0].attribute[0].s = equation.encode()

    (found,) = lint(ir.from_proto(proto), Target.of(target()))

    assert found.deviation.name == NAME
    assert f"{equation!r} has no kernel" in found.found.reason
    assert words in found.found.reason


def test_in_fp32_it_is_not() -> None:
    config = FP32

    assert linted(einsum("ij,jk->ik", "ij", "jk"), **config) == []


@pytest.mark.parametrize("equation", ["bhwc,hkc->bhwk", "bij,bkj->bik", "ij,kj->ki"])
def test_the_rule_gives_products_with_fp32_sums(equation: str) -> None:
    proto = einsum(equation, *equation.partition("->")[0].split(","))
    fed = feeds(proto)
    lowered = cured(proto, "einsum-matmul")

    got = emulate(lowered, fed)["y"]

    operands = [each.astype(np.float16).astype(np.float64) for each in fed.values()]
    wanted = np.einsum(equation, *operands)
    # fp32 sums of four products, then one rounding to fp16
    np.testing.assert_allclose(got, wanted, rtol=2**-11 + 1e-5, atol=1e-5)
    np.testing.assert_allclose(got, run(proto, fed)["y"], rtol=2e-2, atol=5e-3)
    assert linted(lowered) == []
