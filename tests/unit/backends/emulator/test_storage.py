"""Rounding, saturation, infinity and NaN against numpy's float16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import TensorProto

from ascendflow.cann.rounding import round_to_half
from tests.emulation import IEEE, SATURATING, dump, emulate
from tests.halves import half
from tests.models import F32, Spec, layer_norm, masked_softmax, model, node, run

if TYPE_CHECKING:
    from collections.abc import Callable

FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True, allow_subnormal=True)
EDGES = np.array(
    [0.0, -0.0, 1e-8, 2.0**-24, 2.0**-25, 3e-8, 6.1e-5, 1 + 2.0**-11, 1 + 3 * 2.0**-11,
     2049, 65504, 65519.996, 65520, 1e5, 3e38, np.inf, np.nan],
    F32,
)  # fmt: skip


def saturated(x: np.ndarray) -> np.ndarray:
    """What a saturating SoC stores: element by element, without numpy's clip."""
    rounded = half(x)
    rounded[np.isnan(rounded)] = 0
    rounded[rounded == np.inf] = 65504
    rounded[rounded == -np.inf] = -65504
    return rounded


@given(arrays(F32, st.integers(1, 40), elements=FLOATS))
def test_weights_round_as_numpys_float16_and_saturate(x: np.ndarray) -> None:
    np.testing.assert_array_equal(round_to_half(x, "inf"), half(x))
    np.testing.assert_array_equal(round_to_half(x, "saturate"), saturated(x))


@pytest.mark.parametrize(("soc_version", "store"), [(IEEE, half), (SATURATING, saturated)])
def test_every_tensor_at_run_time_rounds_as_numpys_float16(
    soc_version: str, store: Callable[[np.ndarray], np.ndarray]
) -> None:
    x = np.concatenate([EDGES, -EDGES])
    proto = model([node("Identity", ["x"], ["y"])], [("x", [x.size])], [("y", [x.size])])

    y = emulate(proto, {"x": x}, soc_version=soc_version)["y"]

    np.testing.assert_array_equal(y, store(x))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**31))
def test_elementwise_results_are_computed_wide_and_rounded_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (half((rng.standard_normal(64) * 300).astype(F32)) for _ in range(2))
    nodes = [node(op, ["a", "b"], [op]) for op in ("Add", "Sub", "Mul", "Div")]
    proto = model(nodes, [("a", [64]), ("b", [64])], [(n.name, [64]) for n in nodes])

    y = emulate(proto, {"a": a, "b": b}, soc_version=IEEE)

    # numpy's float16 computes in fp32 and rounds once, too
    pairs = (a.astype(np.float16), b.astype(np.float16))
    with np.errstate(over="ignore"):
        for op, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)):
            np.testing.assert_array_equal(y[op], function(*pairs).astype(F32))


def test_a_product_beyond_the_range_overflows_between_nodes() -> None:
    nodes = [node("Mul", ["x", "x"], ["square"]), node("Mul", ["square", "k"], ["y"])]
    proto = model(nodes, [("x", [1])], [("y", [1])], {"k": np.array([0.01], F32)})
    x = np.array([300], F32)

    ieee, saturating = (
        emulate(proto, {"x": x}, soc_version=soc)["y"] for soc in (IEEE, SATURATING)
    )

    assert run(proto, {"x": x})["y"] == pytest.approx(900)
    assert ieee.tolist() == [np.inf]
    assert saturating == np.float16(np.float16(0.01) * np.float32(65504))


def test_a_constant_of_1e9_gives_nan_or_saturates_by_soc() -> None:
    x = np.random.default_rng(7).standard_normal((2, 4)).astype(F32)
    mask = np.array([[1, 1, 0, 0], [1, 1, 1, 1]], F32)
    feeds = {"x": x, "mask": mask}

    ieee = dump(masked_softmax(), feeds, soc_version=IEEE)
    saturating = dump(masked_softmax(), feeds, soc_version=SATURATING)

    # 0 * inf: numpy's float16 says the same
    with np.errstate(invalid="ignore"):
        expected = (np.float16(1) - mask.astype(np.float16)) * np.float16(np.inf)
    np.testing.assert_array_equal(ieee["pen"], expected.astype(F32))
    assert np.isnan(ieee["y"]).any()
    np.testing.assert_array_equal(saturating["pen"][0], [0, 0, 65504, 65504])
    assert not np.isnan(saturating["y"]).any()


def test_the_square_in_a_layer_norm_is_the_first_tensor_that_overflows() -> None:
    x = (np.random.default_rng(7).standard_normal((1, 2, 16)) * 3).astype(F32)
    x[0, 0, 3] = 900.0

    tensors = dump(layer_norm(), {"x": x}, soc_version=IEEE)

    assert list(tensors) == ["mu", "d", "sq", "var", "ve", "sd", "y"]
    assert next(name for name, t in tensors.items() if np.isinf(t).any()) == "sq"
    golden = run(layer_norm(), {"x": x})["y"]
    assert np.abs(tensors["y"] - golden).max() > 3


@pytest.mark.parametrize(("soc_version", "top"), [(IEEE, np.inf), (SATURATING, 65504)])
def test_a_convolution_beyond_the_range_is_caught(soc_version: str, top: float) -> None:
    rng = np.random.default_rng(7)
    x = (np.abs(rng.standard_normal((1, 8, 6, 6))) * 60).astype(F32)
    w = (np.abs(rng.standard_normal((4, 8, 3, 3))) * 40).astype(F32)
    nodes = [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        node("Relu", ["c"], ["y"]),
    ]
    plain = model(nodes, [("x", x.shape)], [("y", [1, 4, 4, 4])], {"w": w})
    nodes = [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        node("Mul", ["c", "k"], ["m"]),
        node("Relu", ["m"], ["y"]),
    ]
    constants = {"w": w / F32(64), "k": np.array(64, F32)}
    scaled = model(nodes, [("x", x.shape)], [("y", [1, 4, 4, 4])], constants)

    assert run(plain, {"x": x})["y"].max() > 65504
    assert emulate(plain, {"x": x}, soc_version=soc_version)["y"].max() == top
    # scaling the weights does not help while the Mul itself stores fp16
    assert emulate(scaled, {"x": x}, soc_version=soc_version)["y"].max() == top
    assert np.isfinite(dump(scaled, {"x": x}, soc_version=soc_version)["c"]).all()


def test_a_scaled_convolution_holds_where_the_scaling_back_is_kept() -> None:
    """FP05: from the Mul on everything is kept, by name and by operator."""
    rng = np.random.default_rng(7)
    x = (np.abs(rng.standard_normal((1, 8, 6, 6))) * 60).astype(F32)
    w = (np.abs(rng.standard_normal((4, 8, 3, 3))) * 40).astype(F32)
    nodes = [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        node("Mul", ["c", "k"], ["m"]),
        node("Relu", ["m"], ["y"]),
    ]
    constants = {"w": w / F32(64), "k": np.array(64, F32)}
    scaled = model(nodes, [("x", x.shape)], [("y", [1, 4, 4, 4])], constants)
    golden = run(scaled, {"x": x})["y"]

    kept = emulate(scaled, {"x": x}, soc_version=IEEE, keep_dtype=["m", "OpType::Relu"])

    assert golden.max() > 65504
    np.testing.assert_allclose(kept["y"], golden, rtol=1e-3)


def test_a_layer_norm_holds_where_five_nodes_are_kept() -> None:
    """FP03."""
    x = (np.random.default_rng(7).standard_normal((1, 2, 16)) * 3).astype(F32)
    x[0, 0, 3] = 900.0
    golden = run(layer_norm(), {"x": x})["y"]
    five = ["sq", "var", "ve", "sd", "y"]

    y = emulate(layer_norm(), {"x": x}, soc_version=IEEE, keep_dtype=five)["y"]

    assert np.abs(y - golden).max() < 5e-4


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose", "MatMul", "Gemm"])
def test_cubes_multiply_fp16_add_in_fp32_and_round_once(op_type: str) -> None:
    rng = np.random.default_rng(1)
    convolves = op_type.startswith("Conv")
    shape = (1, 4, 5, 5) if convolves else (5, 40)
    x = rng.standard_normal(shape).astype(F32)
    w = rng.standard_normal((4, 4, 3, 3) if convolves else (40, 3)).astype(F32)
    b = rng.standard_normal(4 if convolves else 3).astype(F32)
    inputs = ["x", "w"] if op_type == "MatMul" else ["x", "w", "b"]
    constants = {"w": w, "b": b} if op_type != "MatMul" else {"w": w}
    ranks = [f"d{axis}" for axis in range(len(shape))]
    kind = {"kernel_shape": [3, 3]} if convolves else {}
    made = node(op_type, inputs, ["y"], **kind)
    proto = model([made], [("x", shape)], [("y", ranks)], constants)
    rounded = {name: half(array) for name, array in constants.items()}
    exact = model([made], [("x", shape)], [("y", ranks)], rounded)

    y = emulate(proto, {"x": x}, soc_version=IEEE)["y"]

    np.testing.assert_array_equal(y, half(run(exact, {"x": half(x)})["y"]))


def test_a_cast_to_fp32_right_after_a_matmul_keeps_its_fp32_sums() -> None:
    x = np.full((1, 64), 100, F32)
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Cast", ["m"], ["y"], to=TensorProto.FLOAT),
    ]
    proto = model(
        nodes, [("x", [1, 64])], [("y", [1, 1])], {"w": np.full((64, 1), 100, F32)}
    )

    tensors = dump(proto, {"x": x}, soc_version=IEEE)

    assert tensors["y"].tolist() == [[640000.0]]
    assert "m" not in tensors  # fused into one kernel: the target has no such tensor


def test_a_matmul_that_others_read_too_is_rounded_as_ever() -> None:
    x = np.full((1, 64), 100, F32)
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Cast", ["m"], ["y"], to=TensorProto.FLOAT),
        node("Relu", ["m"], ["r"]),
    ]
    outputs: list[Spec] = [("y", [1, 1]), ("r", [1, 1])]
    proto = model(nodes, [("x", [1, 64])], outputs, {"w": np.full((64, 1), 100, F32)})

    y = emulate(proto, {"x": x}, soc_version=IEEE)

    assert y["y"].tolist() == y["r"].tolist() == [[np.inf]]


def test_casts_keep_their_types_and_their_readers_round() -> None:
    x = np.array([1 + 2.0**-12, 70000], F32)
    nodes = [
        node("Cast", ["x"], ["wide"], to=TensorProto.FLOAT),
        node("Cast", ["x"], ["narrow"], to=TensorProto.FLOAT16),
        node("Cast", ["narrow"], ["back"], to=TensorProto.FLOAT),
        node("Neg", ["wide"], ["read"]),
        node("Cast", ["x"], ["whole"], to=TensorProto.INT32),
    ]
    outputs: list[Spec] = [
        ("wide", [2]),
        ("narrow", [2], TensorProto.FLOAT16),
        ("back", [2]),
        ("read", [2]),
        ("whole", [2], TensorProto.INT32),
    ]
    y = emulate(model(nodes, [("x", [2])], outputs), {"x": x}, soc_version=IEEE)

    np.testing.assert_array_equal(y["wide"], x)
    assert y["narrow"].dtype == np.float16
    np.testing.assert_array_equal(y["narrow"].astype(F32), half(x))
    np.testing.assert_array_equal(y["back"], half(x))
    np.testing.assert_array_equal(y["read"], -half(x))
    assert y["whole"].tolist() == [1, 70000]


def test_a_float16_model_keeps_its_types_at_the_border_and_overflows_inside() -> None:
    f16 = TensorProto.FLOAT16
    nodes = [
        node("Mul", ["x", "x"], ["square"]),
        node("Mul", ["square", "k"], ["y"]),
    ]
    constants = {"k": np.array([0.01], np.float16)}
    proto = model(nodes, [("x", [2], f16)], [("y", [2], f16)], constants)
    x = np.array([300, 3], np.float16)

    y = emulate(proto, {"x": x}, soc_version=IEEE)["y"]
    kept = emulate(
        proto, {"x": x}, soc_version=IEEE, precision_mode="must_keep_origin_dtype"
    )["y"]
    tensors = dump(proto, {"x": x}, soc_version=IEEE)

    with np.errstate(over="ignore"):
        expected = x * x * constants["k"]
    assert y.dtype == kept.dtype == tensors["square"].dtype == np.float16
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(kept, expected)


@pytest.mark.parametrize(
    ("op_type", "x"),
    [("Sqrt", -1.0), ("Log", -1.0), ("Acos", 2.0)],
)
def test_nan_from_finite_numbers_is_zero_on_a_saturating_soc(
    op_type: str, x: float
) -> None:
    proto = model([node(op_type, ["x"], ["y"])], [("x", [1])], [("y", [1])])
    feeds = {"x": np.array([x], F32)}

    assert np.isnan(emulate(proto, feeds, soc_version=IEEE)["y"]).all()
    assert emulate(proto, feeds, soc_version=SATURATING)["y"].tolist() == [0]


@pytest.mark.parametrize(
    ("op_type", "x", "expected"), [("Exp", 12.0, 65504), ("Reciprocal", 0.0, 65504)]
)
def test_infinity_is_the_largest_number_on_a_saturating_soc(
    op_type: str, x: float, expected: float
) -> None:
    proto = model([node(op_type, ["x"], ["y"])], [("x", [1])], [("y", [1])])
    feeds = {"x": np.array([x], F32)}

    assert emulate(proto, feeds, soc_version=IEEE)["y"].tolist() == [np.inf]
    assert emulate(proto, feeds, soc_version=SATURATING)["y"].tolist() == [expected]


@pytest.mark.parametrize("opset", [9, 10, 11, 15])
def test_saturation_is_spelled_for_every_opset(opset: int) -> None:
    nodes = [node("Mul", ["x", "x"], ["s"]), node("Sqrt", ["x"], ["r"])]
    proto = model(nodes, [("x", [2])], [("s", [2]), ("r", [2])], opset=opset)

    y = emulate(proto, {"x": np.array([300, -1], F32)}, soc_version=SATURATING)

    assert y["s"].tolist() == [65504, 1]
    assert y["r"][1] == 0


def test_fp32_modes_round_nothing_where_the_soc_has_fp32() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((1, 3, 6, 6)), rng.standard_normal((4, 3, 3, 3))
    nodes = [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        node("Sigmoid", ["c"], ["y"]),
    ]
    proto = model(nodes, [("x", x.shape)], [("y", [1, 4, 4, 4])], {"w": w.astype(F32)})
    feeds = {"x": x.astype(F32)}

    for mode in ("must_keep_origin_dtype", "force_fp32"):
        y = emulate(proto, feeds, soc_version="Ascend310B1", precision_mode=mode)["y"]
        np.testing.assert_array_equal(y, run(proto, feeds)["y"])


def test_force_fp32_leaves_fp16_to_the_kernels_that_have_nothing_else() -> None:
    x = np.random.default_rng(3).standard_normal((1, 2, 4, 4)).astype(F32)
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    proto = model(
        [node("AveragePool", ["x"], ["y"], **window)],
        [("x", x.shape)],
        [("y", [1, 2, 2, 2])],
    )
    config = {"soc_version": IEEE, "precision_mode": "force_fp32"}

    y = emulate(proto, {"x": x}, **config)["y"]
    kept = emulate(
        proto, {"x": x}, **{**config, "precision_mode": "must_keep_origin_dtype"}
    )

    np.testing.assert_array_equal(y, half(run(proto, {"x": half(x)})["y"]))
    np.testing.assert_array_equal(kept["y"], run(proto, {"x": x})["y"])


def test_force_fp32_feeds_a_transposed_convolution_fp16_and_keeps_its_fp32() -> None:
    rng = np.random.default_rng(4)
    x, w = rng.standard_normal((1, 3, 4, 4)).astype(F32), rng.standard_normal((3, 2, 3, 3))
    constants = {"w": w.astype(F32)}
    transposed = node("ConvTranspose", ["x", "w"], ["y"], kernel_shape=[3, 3])
    proto = model(
        [transposed], [("x", x.shape)], [("y", [1, 2, 6, 6])], constants,
    )  # fmt: skip
    exact = model(
        [transposed], [("x", x.shape)], [("y", [1, 2, 6, 6])], {"w": half(constants["w"])},
    )  # fmt: skip

    y = emulate(proto, {"x": x}, soc_version=IEEE, precision_mode="force_fp32")["y"]

    np.testing.assert_array_equal(y, run(exact, {"x": half(x)})["y"])


def test_a_node_that_is_kept_saves_a_constant_of_1e9() -> None:
    """FP01: keeping gnn_mul alone is enough, since the row's largest is no infinity."""
    x = np.random.default_rng(7).standard_normal((2, 4)).astype(F32)
    mask = np.array([[1, 1, 0, 0], [1, 1, 1, 1]], F32)
    feeds = {"x": x, "mask": mask}

    tensors = dump(masked_softmax(), feeds, soc_version=IEEE, keep_dtype=["gnn_mul"])

    np.testing.assert_array_equal(tensors["pen"], (1 - mask) * F32(1e9))
    assert not np.isnan(tensors["y"]).any()
    np.testing.assert_allclose(tensors["y"], run(masked_softmax(), feeds)["y"], atol=1e-3)


@pytest.mark.parametrize(
    ("config", "top"),
    [
        ({"cann": "8.1"}, np.inf),
        ({"cann": "8.5.0"}, 65504),
        ({"cann": "8.5.0", "is_weight_clip": False}, np.inf),
        ({"cann": "8.1", "is_weight_clip": True}, 65504),
        ({"cann": "8.1", "soc_version": SATURATING}, 65504),
    ],
)
def test_constants_beyond_the_range_are_clipped_or_become_infinite(
    config: dict[str, Any], top: float
) -> None:
    nodes = [
        node("Cast", ["k"], ["asked"], to=TensorProto.FLOAT16),
        node("Mul", ["x", "k"], ["y"]),
        node("Mul", ["x", "x"], ["computed"]),
    ]
    outputs: list[Spec] = [("asked", [2], TensorProto.FLOAT16), ("y", [2])]
    outputs.append(("computed", [2]))
    k = np.array([1e9, -70000], F32)
    proto = model(nodes, [("x", [2])], outputs, {"k": k})
    x = np.array([1, 300], F32)

    y = emulate(proto, {"x": x}, **{"soc_version": IEEE, **config})

    assert y["asked"].tolist() == [top, -top]
    assert y["y"][0] == top
    # only constants are clipped
    saturates = config.get("soc_version") == SATURATING
    assert y["computed"].tolist() == [1, 65504 if saturates else np.inf]


def test_mixed_precision_rounds_only_where_types_differ() -> None:
    rng = np.random.default_rng(8)
    x = rng.standard_normal((1, 2, 4, 4)).astype(F32) * F32(1.001)
    w = rng.standard_normal((2, 2, 1, 1)).astype(F32)
    nodes = [
        node("Add", ["x", "x"], ["wide"]),  # gray behind the graph's input: fp32
        node("Conv", ["wide", "w"], ["c"], kernel_shape=[1, 1]),  # white: fp16
        node("Abs", ["c"], ["a"]),  # gray behind fp16: fp16
        node("Log", ["a"], ["l"]),  # black on 910B: fp32
        node("Exp", ["l"], ["y"]),  # gray behind fp32: fp32
    ]
    proto = model(nodes, [("x", x.shape)], [("y", x.shape)], {"w": w})
    config = {"soc_version": IEEE, "precision_mode": "allow_mix_precision"}

    tensors = dump(proto, {"x": x}, **config)

    np.testing.assert_array_equal(tensors["wide"], x + x)
    exact = model(
        [node("Conv", ["x", "w"], ["c"])],
        [("x", x.shape)],
        [("c", x.shape)],
        {"w": half(w)},
    )
    c = half(run(exact, {"x": half(x + x)})["c"])
    np.testing.assert_array_equal(tensors["c"], c)
    np.testing.assert_allclose(tensors["l"], np.log(np.abs(c)), rtol=1e-6)
    np.testing.assert_allclose(tensors["y"], np.abs(c), rtol=1e-5)
    assert not np.array_equal(tensors["y"], half(tensors["y"]))


def test_force_fp32_computes_an_fp16_graph_wide_and_stores_what_it_declares() -> None:
    f16 = TensorProto.FLOAT16
    nodes = [
        node("Mul", ["x", "x"], ["square"]),  # 90000 is held in fp32
        node("Mul", ["square", "k"], ["y"]),
        node("Cast", ["square"], ["asked"], to=TensorProto.FLOAT),  # reads fp16
    ]
    outputs: list[Spec] = [("y", [2], f16), ("asked", [2])]
    constants = {"k": np.array([0.01], np.float16)}
    proto = model(nodes, [("x", [2], f16)], outputs, constants)
    x = np.array([300, 3], np.float16)
    config = {"soc_version": IEEE, "precision_mode": "force_fp32"}

    y = emulate(proto, {"x": x}, **config)

    wide = x.astype(F32) ** 2 * constants["k"].astype(F32)
    np.testing.assert_array_equal(y["y"], wide.astype(np.float16))
    assert y["asked"].tolist() == [np.inf, 9]


@pytest.mark.parametrize(
    "mode", ["force_fp16", "allow_fp32_to_fp16", "allow_mix_precision"]
)
def test_in_all_modes_that_lower_it_a_cast_to_fp32_keeps_a_matmuls_sums(mode: str) -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Cast", ["m"], ["y"], to=TensorProto.FLOAT),
    ]
    constants = {"w": np.full((64, 1), 100, F32)}
    proto = model(nodes, [("x", [1, 64])], [("y", [1, 1])], constants)
    x = np.full((1, 64), 100, F32)

    y = emulate(proto, {"x": x}, soc_version=IEEE, precision_mode=mode)["y"]

    assert y.tolist() == [[640000.0]]


@pytest.mark.parametrize("soc_version", [IEEE, SATURATING])
def test_a_cast_to_fp32_of_an_fp16_matmul_keeps_its_sums_too(soc_version: str) -> None:
    f16 = TensorProto.FLOAT16
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Cast", ["m"], ["y"], to=TensorProto.FLOAT),
    ]
    constants = {"w": np.full((64, 1), 100, np.float16)}
    proto = model(nodes, [("x", [1, 64], f16)], [("y", [1, 1])], constants)
    x = np.full((1, 64), 100, np.float16)
    mode = {"precision_mode": "must_keep_origin_dtype"}

    assert emulate(proto, {"x": x}, soc_version=soc_version, **mode)["y"] == 640000


def test_customized_types_are_computed() -> None:
    x = np.array([1 + 2.0**-12, 3], F32)
    proto = model([node("Neg", ["x"], ["y"])], [("x", [2])], [("y", [2])])
    wide = {"y": {"inputs": ["float32"], "outputs": ["float32"]}}

    y = emulate(proto, {"x": x}, soc_version=IEEE, customize_dtypes=wide)["y"]

    np.testing.assert_array_equal(y, -x)


def test_4096_values_add_up_in_fp32_and_are_rounded_once() -> None:
    x = np.full((1, 4096), 1 + 2.0**-10, F32)
    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("ReduceMean", ["x"], ["mean"], keepdims=0),
        node("MatMul", ["x", "ones"], ["dot"]),
    ]
    outputs: list[Spec] = [("sum", []), ("mean", []), ("dot", [1, 1])]
    proto = model(nodes, [("x", x.shape)], outputs, {"ones": np.ones((4096, 1), F32)})

    y = emulate(proto, {"x": x}, soc_version=IEEE)

    # 4096 + 4 = 4100, an fp16 number; one by one fp16 would stop at 2048
    assert y["sum"].item() == y["dot"].item() == 4100
    assert y["mean"].item() == 1 + 2.0**-10


@pytest.mark.parametrize(
    ("x", "ieee", "saturating"),
    [
        (2049.0, 2048, 2048),  # halfway: to even
        (2051.0, 2052, 2052),
        (1 + 2.0**-11, 1, 1),
        (1 + 3 * 2.0**-11, 1 + 2.0**-9, 1 + 2.0**-9),
        (2.0**-24, 2.0**-24, 2.0**-24),  # the smallest subnormal
        (2.0**-25, 0, 0),  # halfway to it: to even, which is 0
        (3 * 2.0**-25, 2.0**-23, 2.0**-23),
        (65519.0, 65504, 65504),
        (65520.0, np.inf, 65504),
        (-1e6, -np.inf, -65504),
        (np.inf, np.inf, 65504),
        (np.nan, np.nan, 0),
    ],
)
def test_what_a_kernel_reads_is_rounded_as_worked_out_by_hand(
    x: float, ieee: float, saturating: float
) -> None:
    proto = model([node("Identity", ["x"], ["y"])], [("x", [1])], [("y", [1])])
    feeds = {"x": np.array([x], F32)}

    for soc_version, expected in ((IEEE, ieee), (SATURATING, saturating)):
        y = emulate(proto, feeds, soc_version=soc_version)["y"]
        np.testing.assert_array_equal(y, np.array([expected], F32))


def test_shapes_and_integers_are_left_alone() -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("ArgMax", ["x"], ["a"], axis=1, keepdims=0),
        node("Add", ["i", "i"], ["j"]),
    ]
    i64 = TensorProto.INT64
    outputs: list[Spec] = [("s", [2], i64), ("a", [2], i64), ("j", [1], i64)]
    inputs: list[Spec] = [("x", [2, 3]), ("i", [1], i64)]
    x = np.array([[2048, 2049, 0], [1, 2, 3]], F32)
    feeds: dict[str, np.ndarray] = {"x": x, "i": np.array([2**40], np.int64)}

    y = emulate(model(nodes, inputs, outputs), feeds)

    assert y["s"].tolist() == [2, 3]
    assert y["a"].tolist() == [0, 2]  # 2049 is stored as 2048: a tie, the first one wins
    assert y["j"].tolist() == [2**41]


def test_constants_are_rounded_at_compile_time_not_on_each_run() -> None:
    constant = node("Constant", [], ["k"], value_floats=[0.1, 1e6])
    proto = model([constant, node("Mul", ["x", "k"], ["y"])], [("x", [2])], [("y", [2])])

    y = emulate(proto, {"x": np.ones(2, F32)}, soc_version=SATURATING)["y"]

    assert y.tolist() == [float(np.float16(0.1)), 65504]
