"""Products that leave fp16. Rounding is the storage's; held to numpy in fp16 here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from ascendflow.graph.matrices import largest_sum
from tests.emulation import FP32, IEEE, SATURATING, Linted, convert, emulate, linted, target
from tests.models import F32, Spec, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

NAME = "conv-overflow"


def matmul(total: float, before: str | None = None) -> onnx.ModelProto:
    """Make f(x) @ w, of which the weights of column 0 add up to `total` in magnitude."""
    w = np.ones((4, 2), F32)
    w[:, 0] = np.array([1, -1, 1, -1], F32) * F32(total / 4)
    nodes = [node(before, ["x"], ["f"])] if before else []
    nodes.append(node("MatMul", ["f" if before else "x", "w"], ["y"]))
    return model(nodes, [("x", [3, 4])], [("y", [3, 2])], {"w": w})


def test_what_is_beyond_is_infinite_or_the_largest() -> None:
    proto = matmul(2048)
    x = np.array([[40, -40, 40, -40], [1, 1, 1, 1], [20, -20, 20, -20]], F32)

    infinite = emulate(proto, {"x": x}, soc_version=IEEE)["y"]
    saturated = emulate(proto, {"x": x}, soc_version=SATURATING)["y"]

    assert infinite[:, 0].tolist() == [np.inf, 0, 40960]
    assert saturated[:, 0].tolist() == [65504, 0, 40960]
    assert run(proto, {"x": x})["y"][0, 0] == 81920


@pytest.mark.parametrize(
    ("total", "before", "words"),
    [
        pytest.param(1024, None, "a hint, no proof", id="hint"),
        pytest.param(70000, "Sigmoid", "can reach 7e+04", id="bounded"),
        pytest.param(70000, "Softmax", "can reach 7e+04", id="bounded-by-softmax"),
    ],
)
def test_lint_names_the_product_and_says_how_sure_it_is(
    total: float, before: str | None, words: str
) -> None:
    proto = matmul(total, before)

    (found,) = lint(_loaded(proto), Target.of(target()))

    assert (found.subject, found.deviation.name) == ("y", NAME)
    assert words in found.found.reason


@pytest.mark.parametrize(
    ("proto", "config"),
    [
        pytest.param(matmul(1000), {}, id="small-weights"),
        pytest.param(matmul(60000, "Tanh"), {}, id="bounded"),
        pytest.param(
            matmul(70000),
            FP32,
            id="fp32",
        ),
    ],
)
def test_lint_is_silent_where_it_has_nothing_to_say(
    proto: onnx.ModelProto, config: dict[str, str]
) -> None:
    assert linted(proto, **config) == []


def test_of_weights_that_are_fed_nothing_is_said() -> None:
    inputs: list[Spec] = [("x", [3, 4]), ("w", [4, 2])]
    fed = model([node("MatMul", ["x", "w"], ["y"])], inputs, [("y", [3, 2])])
    empty = model(
        [node("MatMul", ["x", "w"], ["y"])],
        [("x", [3, 0])],
        [("y", [3, 2])],
        {"w": np.zeros((0, 2), F32)},
    )

    assert linted(fed) == linted(empty) == []


def clipped(high: float, opset: int) -> onnx.ModelProto:
    proto = matmul(2048, "Relu")
    clip = node("Clip", ["x", "low", "high"], ["f"])
    constants = {"low": np.array(0, F32), "high": np.array(high, F32)}
    if opset < 11:
        clip = node("Clip", ["x"], ["f"], min=0.0, max=float(high))
        constants = {}
    w = onnx.numpy_helper.to_array(proto.graph.initializer[0])
    nodes = [clip, node("MaxPool", ["f"], ["p"], kernel_shape=[1]), proto.graph.node[1]]
    nodes[2].input[0] = "p"
    constants["w"] = w
    return model(nodes, [("x", [1, 3, 4])], [("y", [1, 3, 2])], constants, opset)


@pytest.mark.parametrize("opset", [9, 13])
def test_a_clip_bounds_what_follows(opset: int) -> None:
    assert linted(clipped(6, opset)) == []
    assert linted(clipped(40, opset)) == [Linted("y", NAME, "precision")]


@pytest.mark.parametrize(
    ("op_type", "weights", "attributes"),
    [
        ("Conv", (5, 2, 3, 3), {"group": 2}),
        ("Conv", (4, 3, 2, 2), {"pads": [1, 1, 1, 1]}),
        ("ConvTranspose", (4, 3, 2, 2), {}),
        ("ConvTranspose", (4, 3, 2, 2), {"group": 2}),
        ("Gemm", (6, 4), {"transB": 1}),
        ("Gemm", (4, 6), {"alpha": 2.0}),
        ("MatMul", (4, 6), {}),
        ("MatMul", (2, 4, 6), {}),
    ],
)
def test_the_largest_sum_is_reached_and_never_exceeded(
    op_type: str, weights: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    """Inputs of +-1, drawn and signed as the weights, against onnxruntime."""
    random = np.random.default_rng(0)
    w = np.abs(random.standard_normal(weights)).astype(F32)
    if op_type == "Conv":
        channels = weights[1] * attributes.get("group", 1)
        w, shape = w[: len(w) // 2 * 2], [1, channels, 6, 6]
    elif op_type == "ConvTranspose":
        shape = [1, weights[0], 6, 6]
    else:
        inner = weights[1] if attributes.get("transB") else weights[-2]
        shape = [3, inner]
    made = node(op_type, ["x", "w"], ["y"], **attributes)
    rank = 3 if len(weights) == 3 else len(shape)
    proto = model([made], [("x", shape)], [("y", [f"d{i}" for i in range(rank)])], {"w": w})

    wanted = run(proto, {"x": np.ones(shape, F32)})["y"].max()

    import onnx_ir as ir

    ir_node = next(iter(ir.from_proto(proto).graph))
    assert largest_sum(ir_node, w) == pytest.approx(wanted, rel=1e-5)


def _loaded(proto: onnx.ModelProto) -> Any:
    import onnx_ir as ir

    return ir.from_proto(onnx.shape_inference.infer_shapes(proto))


def test_a_hint_is_not_among_what_a_conversion_applied(tmp_path: Path) -> None:
    proto = matmul(2048)

    document = convert(proto, tmp_path)

    names = [entry["deviation"] for entry in document["applied"]]
    assert names == ["precision-force_fp16", "overflow-saturate"]
