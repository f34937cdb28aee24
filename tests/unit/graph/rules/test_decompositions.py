"""Rules that spell an operator out, each against onnxruntime's own kernel for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto

from ascendflow.graph.rule import Applied, Rule, Skipped
from ascendflow.graph.rules import RULES
from tests.emulation import cured
from tests.models import F32, model, node, run

BY_NAME = {rule.name: rule for rule in RULES}
Made = onnx.ModelProto


def one(
    op_type: str,
    shape: list[int | str],
    constants: dict[str, np.ndarray] | None = None,
    opset: int = 17,
    dtype: int = TensorProto.FLOAT,
    **attributes: Any,
) -> Made:
    made = node(op_type, ["x", *(constants or {})], ["y"], name="n", **attributes)
    out = [f"y{axis}" for axis in range(len(shape))]
    return model([made], [("x", shape, dtype)], [("y", out, dtype)], constants, opset)


def affine(*lengths: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {name: rng.standard_normal(lengths).astype(F32) for name in ("scale", "bias")}


def grouped(shape: list[int | str], groups: int, opset: int, **more: float) -> Made:
    """Make a GroupNormalization; onnx's checker calls that of opset 18 deprecated."""
    numbers = affine(groups if opset < 21 else int(shape[1]))
    proto = one("InstanceNormalization", shape, numbers, opset)
    kind: dict[str, Any] = {"num_groups": groups, **more}
    made = node("GroupNormalization", ["x", *numbers], ["y"], name="n", **kind)
    proto.graph.node[0].CopyFrom(made)
    return proto


def gelu(**kind: Any) -> Made:
    return one("Gelu", [3, 40], opset=20, **kind)


def norm(op_type: str, keepdims: int, **more: int) -> Made:
    axes = {"axes": np.array([-1, 0], np.int64)}
    made = node(op_type, ["x", "axes"], ["y"], name="n", keepdims=keepdims, **more)
    shape = [1, 5, 1] if keepdims else [5]
    return model([made], [("x", [4, 5, 6])], [("y", shape)], axes, 18)


def everywhere(op_type: str) -> Made:
    made = node(op_type, ["x"], ["y"], name="n", keepdims=0)
    return model([made], [("x", [4, 5])], [("y", [])], opset=18)


@pytest.mark.parametrize(
    ("rule", "proto"),
    [
        pytest.param("gelu-to-erf", gelu(), id="gelu"),
        pytest.param("gelu-to-erf", gelu(approximate="tanh"), id="gelu-tanh"),
        pytest.param("mish-decompose", one("Mish", [3, 40], opset=18), id="mish"),
        pytest.param("reduce-norm-decompose", norm("ReduceL1", 1), id="l1"),
        pytest.param("reduce-norm-decompose", norm("ReduceL2", 1), id="l2"),
        pytest.param("reduce-norm-decompose", norm("ReduceL2", 0), id="l2-squeezed"),
        pytest.param(
            "reduce-norm-decompose",
            norm("ReduceL2", 1, noop_with_empty_axes=1),
            id="l2-noop-with-axes",
        ),
        pytest.param("reduce-norm-decompose", everywhere("ReduceL1"), id="l1-all"),
        pytest.param(
            "layer-norm-decompose",
            one("LayerNormalization", [2, 3, 8], affine(8)),
            id="layer",
        ),
        pytest.param(
            "layer-norm-decompose",
            one("LayerNormalization", [2, 3, 8], affine(3, 8), axis=1, epsilon=1e-3),
            id="layer-two-axes",
        ),
        pytest.param(
            "layer-norm-decompose",
            one("LayerNormalization", [2, 8], {"scale": affine(8)["scale"]}, opset=18),
            id="layer-no-bias-18",
        ),
        pytest.param(
            "group-norm-decompose",
            grouped([2, 6, 4, 5], 3, 18),
            id="group-18",
        ),
        pytest.param(
            "group-norm-decompose",
            grouped([2, 6, 7], 2, 21),
            id="group-21",
        ),
        pytest.param(
            "group-norm-decompose",
            grouped([2, 6, 7], 2, 21, epsilon=0.5),
            id="group-epsilon",
        ),
    ],
)
def test_the_spelling_computes_the_same(rule: str, proto: Made) -> None:
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    x = {"x": np.random.default_rng(0).normal(0, 3, shape).astype(F32)}

    edited = cured(proto, rule)

    assert "n" in [made.name for made in edited.graph.node]
    before, after = run(proto, x)["y"], run(edited, x)["y"]
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-5 * np.ptp(before) + 1e-6)


@pytest.mark.parametrize("wanted", [np.int32, np.float16, np.bool_])
def test_a_cast_like_is_a_cast(wanted: Any) -> None:
    like = {"like": np.zeros(1, wanted)}
    dtype = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(wanted))
    made = node("CastLike", ["x", "like"], ["y"], name="n")
    proto = model([made], [("x", [9])], [("y", [9], dtype)], like)
    x = {"x": np.linspace(-4, 4, 9, dtype=F32)}

    edited = cured(proto, "cast-like-to-cast")

    assert [made.op_type for made in edited.graph.node] == ["Cast"]
    after = run(edited, x)["y"]
    assert after.dtype == wanted
    np.testing.assert_array_equal(after, run(proto, x)["y"])


def test_the_import_of_a_domain_goes_with_its_last_node() -> None:
    made = node("Gelu", ["x"], ["y"], name="n", domain="com.microsoft")
    proto = one("Relu", [3, 40])
    proto.graph.node[0].CopyFrom(made)
    proto.opset_import.add(domain="com.microsoft", version=1)
    x = {"x": np.linspace(-9, 9, 120, dtype=F32).reshape(3, 40)}

    edited = cured(proto, "gelu-to-erf")

    assert [(o.domain, o.version) for o in edited.opset_import] == [("", 17)]
    np.testing.assert_allclose(run(edited, x)["y"], run(proto, x)["y"], rtol=0, atol=2e-6)
    assert "Div" not in {n.op_type for n in edited.graph.node}  # CANN would fuse that


HALF = TensorProto.FLOAT16


@pytest.mark.parametrize(
    ("rule", "proto", "reason"),
    [
        ("gelu-to-erf", gelu(dtype=HALF), "tensor 'x' is float16, not float32"),
        ("mish-decompose", one("Mish", [2], opset=18, dtype=HALF), "is float16"),
        ("reduce-norm-decompose", one("ReduceL2", [2, 2], axes=[1]), "opset 17: CANN has"),
        (
            "reduce-norm-decompose",
            one("ReduceL1", [2, 2], opset=18, noop_with_empty_axes=1),
            "noop_with_empty_axes is 1",
        ),
        (
            "group-norm-decompose",
            grouped(["N", 4, 3], 2, 18),
            "not fixed",
        ),
    ],
)
def test_what_it_cannot_be_sure_of_is_skipped(rule: str, proto: Made, reason: str) -> None:
    found = findings(BY_NAME[rule], proto)

    assert isinstance(found, Skipped)
    assert reason in found.reason


def test_a_layer_norm_that_gives_its_mean_is_skipped() -> None:
    nodes = [node("LayerNormalization", ["x", "scale", "bias"], ["y", "mean"], name="n")]
    outputs = [("y", [2, 8]), ("mean", [2, 1])]
    proto = model(nodes, [("x", [2, 8])], outputs, affine(8))

    found = findings(BY_NAME["layer-norm-decompose"], proto)

    assert isinstance(found, Skipped)
    assert "gives Mean" in found.reason


def findings(rule: Rule, proto: Made) -> Applied | Skipped:
    (found,) = rule(ir.from_proto(onnx.shape_inference.infer_shapes(proto)))
    return found
