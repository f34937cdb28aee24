"""The fused Gelu against a transcription of gelu.py, CANN 8.1.RC1, written here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from tests.emulation import (
    FP32,
    IEEE,
    SATURATING,
    Linted,
    convert,
    cured,
    dump,
    emulate,
    linted,
)
from tests.halves import clipped_half
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.linspace(-6, 6, 97, dtype=F32).reshape(1, 97)
SHAPE = [1, 97]
ROOT = np.sqrt(2)


def gelu(
    spelling: str = "product first",
    *,
    root: float = ROOT,
    one: float = 1.0,
    half: float = 0.5,
    shape: tuple[int, ...] = (),
    opset: int = 17,
) -> onnx.ModelProto:
    nodes = [
        node("Div", ["x", "root"], ["d"]),
        node("Erf", ["d"], ["e"]),
        node("Add", ["e", "one"], ["a"]),
    ]
    if spelling == "product first":
        nodes += [node("Mul", ["x", "a"], ["m"]), node("Mul", ["m", "half"], ["y"])]
    else:
        nodes += [node("Mul", ["x", "half"], ["m"]), node("Mul", ["m", "a"], ["y"])]
    numbers = {"root": root, "one": one, "half": half}
    constants = {name: np.full(shape, n, F32) for name, n in numbers.items()}
    return model(nodes, [("x", SHAPE)], [("y", SHAPE)], constants, opset)


def kernel(x: np.ndarray) -> np.ndarray:
    """The fp32 path of gelu_compute."""
    y = (x + (x * x * x) * F32(0.044715)) * F32(1.5957691)
    left = x / (np.exp(-np.abs(y)) + F32(1))
    return np.asarray(left * np.exp(np.minimum(y, F32(0))))


def half_kernel(x: np.ndarray) -> np.ndarray:
    """The same on a vector unit that has fp16 only, each step rounded."""
    h = clipped_half
    x = h(x)
    cube = h(h(x * x) * x)
    y = h(h(x + h(cube * h(F32(0.044715)))) * h(F32(1.5957691)))
    left = h(x / h(h(np.exp(-np.abs(y))) + 1))
    return h(left * h(np.exp(np.minimum(y, 0))))


@pytest.mark.parametrize("spelling", ["product first", "half first"])
@pytest.mark.parametrize("opset", [11, 17])
def test_the_fused_kernel_computes_the_tanh_formula(spelling: str, opset: int) -> None:
    proto = gelu(spelling, opset=opset)

    fused = emulate(proto, {"x": X}, **FP32)["y"]

    np.testing.assert_allclose(fused, kernel(X), rtol=0, atol=1e-6)
    assert 4e-4 < np.abs(fused - run(proto, {"x": X})["y"]).max() < 5e-4


def test_with_fp16_data_it_is_fp32_inside() -> None:
    x = X.astype(np.float16).astype(F32)

    fused = emulate(gelu(), {"x": X}, soc_version=SATURATING)["y"]

    np.testing.assert_array_equal(fused, kernel(x).astype(np.float16).astype(F32))


def test_on_310_every_step_is_fp16() -> None:
    large = np.concatenate([X, np.array([[-300, -45, 45, 300]], F32)], axis=1)[:, -97:]

    fused = emulate(gelu(), {"x": large}, soc_version="Ascend310")["y"]

    # fp16(exp) of numpy and of onnxruntime may round differently: one unit, of 300
    np.testing.assert_allclose(fused, half_kernel(large), rtol=2**-10, atol=1e-6)
    assert np.abs(fused - kernel(large.astype(np.float16).astype(F32))).max() > 1.5e-3


def test_on_310_only_exp_is_fp16_for_fp32_data() -> None:
    config = {"soc_version": "Ascend310", "precision_mode": "must_keep_origin_dtype"}

    fused = emulate(gelu(), {"x": X}, **config)["y"]

    off = np.abs(fused - kernel(X))
    assert 1e-5 < off.max() < 2e-3


def test_the_target_has_none_of_the_five_tensors_but_the_last() -> None:
    assert list(dump(gelu(), {"x": X}, **FP32)) == ["y"]


@pytest.mark.parametrize("config", [FP32, {"soc_version": SATURATING}])
def test_lint_names_the_add(config: dict[str, str]) -> None:
    assert linted(gelu(), **config) == [Linted("a", "gelu-tanh", "precision")]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"root": 1.4142}, id="root-1.4142"),
        pytest.param({"root": 1.41425}, id="root-1.41425"),
        pytest.param({"one": 1.001}, id="not-one"),
        pytest.param({"half": 0.4999}, id="not-half"),
        pytest.param({"shape": (1, 1)}, id="no-scalar"),
    ],
)
@pytest.mark.parametrize("spelling", ["product first", "half first"])
def test_what_the_pass_does_not_match_runs_as_it_is(
    spelling: str, change: dict[str, Any]
) -> None:
    proto = gelu(spelling, **change)

    assert linted(proto, **FP32) == []
    np.testing.assert_array_equal(
        emulate(proto, {"x": X}, **FP32)["y"], run(proto, {"x": X})["y"]
    )


def test_a_product_with_the_reciprocal_is_not_seen() -> None:
    proto = gelu()
    proto.graph.node[0].op_type = "Mul"
    proto.graph.initializer[0].CopyFrom(
        onnx.numpy_helper.from_array(np.array(1 / ROOT, F32), "root")
    )

    assert linted(proto, **FP32) == []


@pytest.mark.parametrize("name", ["d", "e", "a", "m"])
def test_a_value_that_is_read_elsewhere_keeps_the_pattern(name: str) -> None:
    proto = gelu()
    proto.graph.output.append(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, SHAPE)
    )

    assert linted(proto, **FP32) == []


def test_a_product_with_another_tensor_is_silently_replaced() -> None:
    proto = gelu("half first")
    proto.graph.node[3].input[0] = "z"
    proto.graph.input.append(
        onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, SHAPE)
    )
    feeds = {"x": X, "z": np.full(SHAPE, 7, F32)}

    fused = emulate(proto, feeds, **FP32)["y"]

    assert linted(proto, **FP32) == [Linted("a", "gelu-tanh", "silent")]
    np.testing.assert_allclose(fused, kernel(X), rtol=0, atol=1e-6)
    assert np.abs(fused - run(proto, feeds)["y"]).max() > 5
    np.testing.assert_array_equal(
        emulate(cured(proto, "unfuse-gelu"), feeds, **FP32)["y"], run(proto, feeds)["y"]
    )


@pytest.mark.parametrize("spelling", ["product first", "half first"])
def test_the_rule_keeps_erf(spelling: str) -> None:
    proto = gelu(spelling)

    kept = cured(proto, "unfuse-gelu")

    assert linted(kept, **FP32) == []
    np.testing.assert_array_equal(
        emulate(kept, {"x": X}, **FP32)["y"], run(proto, {"x": X})["y"]
    )


@pytest.mark.parametrize(
    ("cann", "confidence"), [("6.0.RC1", "high"), ("8.1", "medium"), ("8.5.0", "low")]
)
def test_the_conversion_says_how_sure_it_is(
    tmp_path: Path, cann: str, confidence: str
) -> None:
    applied = convert(gelu(opset=13), tmp_path, cann=cann)["applied"]

    (entry,) = [each for each in applied if each["deviation"] == "gelu-tanh"]
    assert (entry["nodes"], entry["rule"]) == (["a"], "unfuse-gelu")
    assert entry["confidence"] == confidence


QUICK = {"op_select_implmode": "high_performance_for_all"}


def quick(x: np.ndarray, offset: float, h: Callable[[Any], np.ndarray]) -> np.ndarray:
    """high_performance_compute, `h` rounding each step."""
    x = h(x)
    size = np.minimum(h(np.abs(x * h(F32(0.7071)))), h(F32(1.769)))
    off = h(size - h(F32(1.769)))
    bent = h(h(h(off * off) * h(F32(-0.1444))) + F32(0.5))
    moved = h(x + h(F32(offset)))
    with np.errstate(divide="ignore"):
        sign = h(moved * h(1 / np.abs(moved)))
    return h(x * h(h(bent * sign) + F32(0.5)))


def test_the_high_performance_kernel_is_a_quadratic() -> None:
    fused = emulate(gelu(), {"x": X}, **FP32, **QUICK)["y"]

    np.testing.assert_allclose(
        fused, quick(X, 1e-12, lambda v: np.asarray(v, F32)), rtol=0, atol=1e-6
    )
    assert 0.015 < np.abs(fused - run(gelu(), {"x": X})["y"]).max() < 0.02


@pytest.mark.parametrize(
    ("soc_version", "cann", "offset"),
    [("Ascend310P3", "8.1", 1e-7), ("Ascend310", "8.1", 1e-7), ("Ascend310", "6.0", 0.0)],
)
def test_on_fp16_data_each_of_its_steps_is_fp16(
    soc_version: str, cann: str, offset: float
) -> None:
    near = np.concatenate([X[:, :-4], np.array([[0, 1e-7, -1e-7, 1e-5]], F32)], axis=1)

    config = {"soc_version": soc_version, "cann": cann, **QUICK}
    fused = emulate(gelu(opset=13), {"x": near}, **config)["y"]

    np.testing.assert_array_equal(fused, quick(near, offset, clipped_half))


def test_where_there_are_infinities_its_reciprocal_near_zero_is_not_known() -> None:
    found = linted(gelu(), soc_version=IEEE, **QUICK)

    assert found == [Linted("a", "gelu-tanh", "unknown")]
