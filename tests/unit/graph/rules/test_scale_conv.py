from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.rewrite import Request, rewrite
from ascendflow.graph.rules.scale_conv import ScaleConv
from tests.editing import applied, why_skipped
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = np.random.default_rng(7)


def product(
    op_type: str,
    weights: tuple[int, ...],
    *,
    bias: bool = True,
    std: float = 1.0,
    **kind: Any,
) -> onnx.ModelProto:
    w = (RANDOM.standard_normal(weights) * std).astype(F32)
    columns = weights[0] if op_type == "Conv" else weights[1]
    constants = {"w": w}
    if bias and op_type != "MatMul":
        constants["b"] = RANDOM.standard_normal(columns).astype(F32)
    shape = [2, weights[0]]
    if op_type.startswith("Conv"):
        shape = [1, weights[1] if op_type == "Conv" else weights[0], 6, 6]
    made = node(op_type, ["x", *constants], ["y"], name="product", **kind)
    return model(
        [made], [("x", shape)], [("y", [f"d{i}" for i in range(len(shape))])], constants
    )


def fed(proto: onnx.ModelProto) -> dict[str, np.ndarray]:
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    return {"x": RANDOM.standard_normal(shape).astype(F32) * F32(60)}


PRODUCTS = [
    pytest.param("Conv", (4, 3, 3, 3), {}, id="conv"),
    pytest.param(
        "Conv", (4, 3, 3, 3), {"pads": [1] * 4, "strides": [2, 2]}, id="conv-pads"
    ),
    pytest.param("ConvTranspose", (3, 4, 2, 2), {"strides": [2, 2]}, id="conv-transpose"),
    pytest.param("Gemm", (5, 4), {"alpha": 0.5, "beta": 2.0}, id="gemm"),
    pytest.param("MatMul", (5, 4), {}, id="matmul"),
]


@pytest.mark.parametrize(("op_type", "weights", "kind"), PRODUCTS)
@pytest.mark.parametrize("scale", [2, 64, 4096])
def test_every_bit_stays(
    op_type: str, weights: tuple[int, ...], kind: dict[str, Any], scale: int
) -> None:
    proto = product(op_type, weights, std=40.0, **kind)
    x = fed(proto)

    after = applied(ScaleConv(scale), proto)

    assert [n.op_type for n in after.graph.node] == [op_type, "Cast", "Mul"]
    np.testing.assert_array_equal(run(after, x)["y"], run(proto, x)["y"])


def test_a_product_without_bias_has_none_afterwards() -> None:
    after = applied(ScaleConv(64), product("Conv", (4, 3, 3, 3), bias=False))

    assert len(after.graph.node[0].input) == 2


@pytest.mark.parametrize(
    ("std", "scale", "refused"),
    [(0.02, 64, False), (0.02, 4096, True), (0.02, 65536, True), (40.0, 4096, False)],
)
def test_weights_that_would_lose_their_bits_are_refused(
    std: float, scale: int, refused: bool
) -> None:
    """0.02 / 4096 is 4.9e-6, where fp16 has steps of 6e-8: an eightieth."""
    proto = product("Conv", (16, 16, 3, 3), bias=False, std=std)

    if refused:
        assert "take a smaller scale" in why_skipped(ScaleConv(scale), proto)
        return
    after = applied(ScaleConv(scale), proto)

    w = onnx.numpy_helper.to_array(proto.graph.initializer[0])
    read = after.graph.node[0].input[1]
    scaled = next(t for t in after.graph.initializer if t.name == read)
    halved = onnx.numpy_helper.to_array(scaled).astype(np.float16).astype(F32) * F32(scale)
    plain = w.astype(np.float16).astype(F32)
    assert rms(halved - w) < 1.1 * rms(plain - w)


def rms(array: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64))))


def test_weights_that_are_fed_are_skipped() -> None:
    proto = model(
        [node("MatMul", ["x", "w"], ["y"])],
        [("x", [2, 3]), ("w", [3, 4])],
        [("y", [2, 4])],
    )

    assert why_skipped(ScaleConv(64), proto) == "input 1, 'w', is no fp32 constant"


def test_a_bias_that_is_fed_is_skipped() -> None:
    proto = model(
        [node("Gemm", ["x", "w", "b"], ["y"])],
        [("x", [2, 3]), ("b", [4])],
        [("y", [2, 4])],
        {"w": np.ones((3, 4), F32)},
    )

    assert why_skipped(ScaleConv(64), proto) == "input 2, 'b', is no fp32 constant"


def save(folder: Path) -> tuple[Path, Path]:
    onnx.save(product("Conv", (4, 3, 3, 3)), folder / "in.onnx")
    return folder / "in.onnx", folder / "out.onnx"


def test_the_scale_comes_with_the_request_and_is_in_the_log(tmp_path: Path) -> None:
    source, target = save(tmp_path)
    request = Request("scale-conv", ("product",), arguments={"scale": 64})

    done = rewrite(source, target, [request])

    (entry,) = done.log["rules"]
    assert entry["arguments"] == {"scale": 64}
    assert entry["applied"][0]["after"] == {"scale": 64}


@pytest.mark.parametrize(
    ("rule", "arguments", "words"),
    [
        ("scale-conv", {}, "takes as arguments scale; given: none"),
        ("scale-conv", {"scale": 10}, "10 is not a power of two above 1"),
        ("scale-conv", {"scale": 1}, "1 is not a power of two above 1"),
        ("pow-to-mul", {"scale": 64}, "takes as arguments none; given: scale"),
    ],
)
def test_a_wrong_argument_is_refused(
    tmp_path: Path, rule: str, arguments: dict[str, int], words: str
) -> None:
    source, target = save(tmp_path)

    with pytest.raises(StageError, match=words):
        rewrite(source, target, [Request(rule, arguments=arguments)])
