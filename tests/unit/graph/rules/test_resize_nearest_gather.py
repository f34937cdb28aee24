from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.resize_nearest_gather import ResizeNearestGather
from tests.editing import applied, finding, why_skipped
from tests.models import F32, model, node, resize, run

Kind = dict[str, Any]
MODE, ROUND = "coordinate_transformation_mode", "nearest_mode"
PLAIN: Kind = {MODE: "asymmetric", ROUND: "floor"}


def picked(shape: tuple[int, ...], sizes: tuple[int, ...], **kind: Any) -> onnx.ModelProto:
    return resize(shape, sizes=sizes, mode="nearest", **kind)


def upsample(scales: list[float]) -> onnx.ModelProto:
    nodes = [node("Upsample", ["x", "s"], ["y"], mode="nearest")]
    constants = {"s": np.array(scales, F32)}
    return model(nodes, [("x", [1, 2, 4, 6])], [("y", list("nchw"))], constants, opset=9)


def same_bits(proto: onnx.ModelProto, edited: onnx.ModelProto, dtype: Any = F32) -> None:
    onnx.checker.check_model(edited)
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    x = (np.random.default_rng(0).standard_normal(shape) * 100).astype(dtype)
    np.testing.assert_array_equal(run(edited, {"x": x})["y"], run(proto, {"x": x})["y"])


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {MODE: "pytorch_half_pixel"},
        {MODE: "half_pixel", ROUND: "round_prefer_ceil"},
        {MODE: "tf_half_pixel_for_nn", ROUND: "floor", "opset": 11},
    ],
    ids=str,
)
def test_an_integer_factor_upwards_is_respelled(kind: Kind) -> None:
    proto = picked((1, 2, 4, 6), (1, 2, 8, 18), **kind)

    found, edited = finding(ResizeNearestGather(), proto)

    assert isinstance(found, Applied)
    assert found.after == PLAIN
    assert [each.op_type for each in edited.graph.node] == ["Resize"]
    same_bits(proto, edited)


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        ((1, 2, 8, 12), (1, 2, 4, 6)),
        ((1, 2, 4, 6), (1, 2, 6, 9)),
        ((1, 2, 18, 15), (1, 2, 21, 2)),
        ((1, 2, 5, 7), (1, 2, 11, 4)),
        ((1, 2, 4, 6), (1, 2, 1, 1)),
        ((2, 3, 4, 6), (3, 5, 8, 9)),
        ((2, 4, 6), (2, 7, 9)),
        ((7,), (12,)),
        ((1, 2, 3, 4, 5), (1, 2, 5, 9, 3)),
    ],
    ids=str,
)
@pytest.mark.parametrize("rounding", ["floor", "ceil", "round_prefer_floor"])
@pytest.mark.parametrize("mode", ["half_pixel", "align_corners", "pytorch_half_pixel"])
def test_any_other_becomes_gathers_of_the_same_elements(
    mode: str, rounding: str, shape: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    proto = picked(shape, sizes, **{MODE: mode, ROUND: rounding})

    found, edited = finding(ResizeNearestGather(), proto)

    assert isinstance(found, Applied)
    if found.after.get("op_type"):
        assert {each.op_type for each in edited.graph.node} <= {"Gather", "Identity"}
        assert edited.graph.node[-1].name == "resize"
        indices = [t for t in edited.graph.initializer if "indices" in t.name]
        assert {t.data_type for t in indices} <= {onnx.TensorProto.INT32}
    same_bits(proto, edited)


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(resize([1, 2, 5, 7], scales=[1, 1, 0.6, 0.45], opset=10), id="10"),
        pytest.param(upsample([1, 1, 1.5, 2.5]), id="upsample"),
        pytest.param(resize([1, 3, 8, 11], sizes=[9, 7], axes=[3, 2], opset=18), id="axes"),
        pytest.param(
            resize(
                [1, 3, 8, 11],
                sizes=[9, 7],
                axes=[2, 3],
                opset=18,
                keep_aspect_ratio_policy="not_smaller",
            ),
            id="policy",
        ),
        pytest.param(resize([1, 2, 4, 6], scales=[1, 1, 1.6, 2.3]), id="scales"),
    ],
)
def test_other_operators_and_attributes_too(proto: onnx.ModelProto) -> None:
    found, edited = finding(ResizeNearestGather(), proto)

    assert isinstance(found, Applied)
    assert "Gather" in {each.op_type for each in edited.graph.node}
    same_bits(proto, edited)


def test_any_type_of_element_is_only_moved() -> None:
    proto = picked((1, 2, 8, 12), (1, 2, 4, 6))
    for value in (proto.graph.input[0], proto.graph.output[0]):
        value.type.tensor_type.elem_type = onnx.TensorProto.UINT8

    found, edited = finding(ResizeNearestGather(), proto)

    assert isinstance(found, Applied)
    x = np.arange(192, dtype=np.uint8).reshape(1, 2, 8, 12)
    np.testing.assert_array_equal(run(edited, {"x": x})["y"], run(proto, {"x": x})["y"])


def cropped(roi: list[float]) -> onnx.ModelProto:
    kind: Kind = {"mode": "nearest", MODE: "tf_crop_and_resize"}
    nodes = [node("Resize", ["x", "roi", "", "sizes"], ["y"], **kind)]
    constants: dict[str, np.ndarray] = {
        "roi": np.array([0, 0, *roi[:2], 1, 1, *roi[2:]], F32),
        "sizes": np.array([1, 2, 3, 4], np.int64),
    }
    return model(nodes, [("x", [1, 2, 4, 8])], [("y", [1, 2, 3, 4])], constants)


def test_a_region_within_the_input_is_gathered() -> None:
    proto = cropped([0.25, 0.25, 1, 0.75])

    found, edited = finding(ResizeNearestGather(), proto)

    assert isinstance(found, Applied)
    same_bits(proto, edited)


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(
            picked((1, 2, 4, 6), (1, 2, 8, 12), **PLAIN), "takes the same", id="plain"
        ),
        pytest.param(
            picked((1, 2, 8, 12), (1, 2, 4, 6), **PLAIN), "takes the same", id="shorter"
        ),
        pytest.param(upsample([1, 1, 2, 3]), "takes the same", id="upsample"),
        pytest.param(
            resize([1, 2, 4, 6], scales=[1, 1, 2, 2], opset=10), "the same", id="opset-10"
        ),
        pytest.param(
            resize([1, 2, 4, 6], scales=[1, 1, 2, 2], mode="linear"),
            "mode is 'linear'",
            id="linear",
        ),
        pytest.param(
            resize([1, 2, "H", 6], scales=[1, 1, 2, 2]),
            "is not fixed",
            id="dynamic",
        ),
        pytest.param(cropped([-0.5, 0, 1, 1]), "outside the input", id="outside"),
        pytest.param(
            picked((1, 2, 9, 6), (1, 2, 3, 6), opset=19, **{MODE: "half_pixel_symmetric"}),
            "half_pixel_symmetric",
            id="symmetric",
        ),
    ],
)
def test_what_needs_no_cure_or_has_none_is_skipped_with_a_reason(
    proto: onnx.ModelProto, reason: str
) -> None:
    assert reason in why_skipped(ResizeNearestGather(), proto)


def test_sizes_that_are_computed_are_skipped() -> None:
    nodes = [node("Resize", ["x", "", "", "sizes"], ["y"], mode="nearest")]
    inputs: list[Any] = [("x", [1, 1, 4, 4]), ("sizes", [4], onnx.TensorProto.INT64)]

    found, _ = finding(ResizeNearestGather(), model(nodes, inputs, [("y", list("abcd"))]))

    assert isinstance(found, Skipped)
    assert "not fixed" in found.reason


def test_whatever_it_applies_to_keeps_its_bits() -> None:
    """Random shapes, sizes, scales and modes; a fixed seed, so that a failure repeats."""
    rng = np.random.default_rng(11)
    applied = 0
    for _ in range(150):
        shape = (1, int(rng.integers(1, 3)), *(int(n) for n in rng.integers(1, 12, 2)))
        kind: Kind = {
            MODE: rng.choice(["half_pixel", "pytorch_half_pixel", "align_corners"]),
            ROUND: rng.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]),
        }
        if rng.random() < 0.5:
            lengths = [int(n) for n in rng.integers(1, 25, 2)]
            proto = picked(shape, (*shape[:2], *lengths), **kind)
        else:
            up = [float(n) for n in rng.uniform(1, 3, 2).round(2)]
            proto = resize(shape, scales=[1, 1, *up], mode="nearest", **kind)
        found, edited = finding(ResizeNearestGather(), proto)
        if isinstance(found, Applied):
            same_bits(proto, edited)
            applied += 1

    assert applied > 120


@pytest.mark.parametrize("shape", [["N", 2, 4, 6], ["N", "C", 4, 6]])
def test_only_the_axes_that_are_resized_need_a_length(shape: list[int | str]) -> None:
    proto = resize(shape, scales=[1, 1, 1.5, 0.5], mode="nearest")

    after = applied(ResizeNearestGather(), proto)

    x = {"x": np.random.default_rng(0).standard_normal((3, 2, 4, 6)).astype(F32)}
    np.testing.assert_allclose(run(after, x)["y"], run(proto, x)["y"], rtol=0, atol=1e-5)
