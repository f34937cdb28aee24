from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules import resize_to_matmul
from ascendflow.graph.rules.resize_to_matmul import ResizeToMatMul
from tests.editing import applied, finding, why_skipped
from tests.models import F32, model, node, resize, run

Kind = dict[str, Any]
MODE = "coordinate_transformation_mode"
PYTORCH: Kind = {"mode": "linear", MODE: "pytorch_half_pixel"}
RANGE = 1e-5
"""What `equivalent` allows, over the output's range."""


def upsample(scales: list[float], opset: int) -> onnx.ModelProto:
    constants = {"s": np.array(scales, F32)} if opset == 9 else {}
    kind: Kind = {"mode": "linear"} | ({} if opset == 9 else {"scales": scales})
    nodes = [node("Upsample", ["x", *constants], ["y"], **kind)]
    outputs: list[Any] = [("y", list("nchw"))]
    return model(nodes, [("x", [1, 2, 4, 6])], outputs, constants, opset=opset)


def cropped(roi: list[float], **kind: Any) -> onnx.ModelProto:
    attributes: Kind = {"mode": "linear", MODE: "tf_crop_and_resize", **kind}
    nodes = [node("Resize", ["x", "roi", "", "sizes"], ["y"], **attributes)]
    constants: dict[str, np.ndarray] = {
        "roi": np.array([0, 0, *roi[:2], 1, 1, *roi[2:]], F32),
        "sizes": np.array([1, 2, 3, 5], np.int64),
    }
    return model(nodes, [("x", [1, 2, 4, 8])], [("y", [1, 2, 3, 5])], constants)


CASES = {
    "length-1": resize([1, 2, 4, 6], sizes=[1, 2, 1, 9], mode="linear"),
    "pytorch-1": resize([1, 2, 4, 6], sizes=[1, 2, 1, 1], **PYTORCH),
    "own-scale": resize([1, 2, 5, 5], scales=[1, 1, 1.5, 1.7], **PYTORCH),
    "antialias": resize(
        [1, 2, 16, 17], sizes=[1, 2, 5, 9], mode="linear", antialias=1, opset=18
    ),
    "axes": resize([1, 2, 8, 11], sizes=[9, 5], axes=[3, 2], mode="linear", opset=18),
    "policy": resize(
        [1, 2, 8, 11],
        sizes=[9, 5],
        axes=[2, 3],
        mode="linear",
        opset=18,
        keep_aspect_ratio_policy="not_smaller",
    ),
    "rank-2": resize([5, 7], sizes=[9, 3], mode="linear"),
    "rank-3": resize([2, 5, 7], sizes=[2, 9, 3], mode="linear"),
    "rank-3-batch": resize([2, 5, 7], sizes=[3, 9, 3], mode="linear"),
    "channels": resize([1, 2, 4, 6], sizes=[1, 5, 4, 6], **PYTORCH),
    "rank-5": resize([1, 2, 3, 4, 5], sizes=[1, 2, 5, 9, 3], mode="linear"),
    "for-nn": resize(
        [1, 2, 4, 6], sizes=[1, 2, 7, 9], mode="linear", opset=11,
        coordinate_transformation_mode="tf_half_pixel_for_nn",
    ),
    "symmetric": resize(
        [1, 2, 5, 7], scales=[1, 1, 1.5, 1.7], mode="linear", opset=19,
        coordinate_transformation_mode="half_pixel_symmetric",
    ),
    "opset-10": resize([1, 2, 4, 6], scales=[1, 1, 2.3, 0.6], mode="linear", opset=10),
    "upsample-9": upsample([1, 1, 2, 2.5], 9),
    "upsample-8": upsample([1, 1, 2, 2.5], 8),
    "crop": cropped([0.25, 0.1, 1, 0.75]),
    "crop-outside": cropped([-0.25, 0.1, 1.5, 0.75]),
    "cubic": resize([1, 1, 6, 6], sizes=[1, 1, 9, 9], mode="cubic"),
    "cubic-tf": resize(
        [1, 1, 6, 6], sizes=[1, 1, 9, 4], mode="cubic",
        cubic_coeff_a=-0.5, exclude_outside=1,
    ),
    "cubic-antialias": resize(
        [1, 1, 16, 6], sizes=[1, 1, 5, 9], mode="cubic", antialias=1, opset=18
    ),
    "cubic-crop": cropped([0.25, 0.1, 1, 0.75], mode="cubic"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_product_is_what_onnxruntime_interpolates(name: str) -> None:
    proto = CASES[name]

    found, edited = finding(ResizeToMatMul(), proto)

    assert isinstance(found, Applied)
    onnx.checker.check_model(edited)
    assert {each.op_type for each in edited.graph.node} <= {"MatMul", "Transpose"}
    assert edited.graph.node[-1].name == proto.graph.node[0].name
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).standard_normal(shape).astype(F32)
    golden, y = run(proto, {"x": x})["y"], run(edited, {"x": x})["y"]
    assert y.shape == golden.shape
    assert np.abs(y - golden).max() <= RANGE * np.ptp(golden)


def test_double_keeps_its_precision() -> None:
    proto = resize([1, 2, 5, 5], scales=[1, 1, 1.5, 1.5], **PYTORCH)
    for value in (proto.graph.input[0], proto.graph.output[0]):
        value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE

    _, edited = finding(ResizeToMatMul(), proto)

    weights = [t for t in edited.graph.initializer if "weights" in t.name]
    assert {t.data_type for t in weights} == {onnx.TensorProto.DOUBLE}


def test_a_constant_picture_stays_constant() -> None:
    """Each row of a matrix sums to 1, so nothing brightens."""
    proto = CASES["cubic-tf"]

    _, edited = finding(ResizeToMatMul(), proto)

    y = run(edited, {"x": np.full((1, 1, 6, 6), 3, F32)})["y"]
    np.testing.assert_allclose(y, 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(
            resize([1, 2, 4, 6], sizes=[1, 2, 8, 12], mode="linear"),
            "rule resize-half-pixel is for it",
            id="half-pixel",
        ),
        pytest.param(
            resize([1, 2, 4, 6], sizes=[1, 2, 8, 12], **PYTORCH), "the same", id="pytorch"
        ),
        pytest.param(
            resize(
                [1, 2, 4, 6],
                sizes=[1, 2, 1, 12],
                mode="linear",
                coordinate_transformation_mode="align_corners",
            ),
            "the same",
            id="corners",
        ),
        pytest.param(
            resize(
                [1, 2, 4, 6],
                sizes=[1, 2, 1, 12],
                mode="linear",
                coordinate_transformation_mode="asymmetric",
            ),
            "the same",
            id="asymmetric-length-1",
        ),
        pytest.param(
            resize([1, 2, 4, 6], sizes=[1, 2, 8, 12]),
            "rule resize-nearest-gather",
            id="nearest",
        ),
        pytest.param(
            resize([1, 2, "H", 6], scales=[1, 1, 2, 2], mode="cubic"),
            "not fixed",
            id="dynamic",
        ),
        pytest.param(
            cropped([-0.25, 0, 1, 1], extrapolation_value=2.0),
            "with 2, not 0",
            id="outside",
        ),
        pytest.param(
            resize(
                [1, 2, 16, 6],
                scales=[1, 1, 0.5, 1.07],
                mode="linear",
                antialias=1,
                opset=18,
            ),
            "copies an axis",
            id="disputed",
        ),
    ],
)
def test_what_needs_no_cure_or_has_none_is_skipped_with_a_reason(
    proto: onnx.ModelProto, reason: str
) -> None:
    assert reason in why_skipped(ResizeToMatMul(), proto)


@pytest.mark.parametrize("dtype", ["FLOAT16", "INT32"])
def test_other_types_are_skipped(dtype: str) -> None:
    proto = resize([1, 2, 4, 6], sizes=[1, 2, 1, 9], mode="linear")
    for value in (proto.graph.input[0], proto.graph.output[0]):
        value.type.tensor_type.elem_type = onnx.TensorProto.DataType.Value(dtype)

    found, _ = finding(ResizeToMatMul(), proto)

    assert isinstance(found, Skipped)
    assert found.reason == f"its type is {dtype}, not FLOAT or DOUBLE"


@pytest.mark.parametrize(
    ("before", "after", "elements"),
    [
        pytest.param([1, 1, 5000, 2], [1, 1, 5001, 1], 5000 * 5001, id="matrix"),
        # 4 numbers for each of 7 taps: cubic reaches 2 elements to each side, and 1 more.
        pytest.param([1, 4, 3, 1], [8388609, 4, 9, 1], 28 * 8388609, id="taps-of-a-batch"),
    ],
)
def test_a_matrix_beyond_reason_is_skipped_before_it_is_made(
    before: list[int], after: list[int], elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resize_to_matmul, "matrix", None)

    found, _ = finding(ResizeToMatMul(), resize(before, sizes=after, mode="cubic"))

    assert isinstance(found, Skipped)
    assert f"takes {elements} numbers to weight, of at most 16777216" in found.reason


def test_a_long_axis_that_does_not_change_takes_no_matrix() -> None:
    proto = resize([100_000, 1, 4, 4], sizes=[100_000, 1, 7, 7], mode="cubic")

    found, edited = finding(ResizeToMatMul(), proto)

    assert isinstance(found, Applied)
    assert [list(t.dims) for t in edited.graph.initializer if "weights" in t.name] == [
        [7, 4],
        [4, 7],
    ]


def test_whatever_it_applies_to_stays_within_its_promise() -> None:
    """Random shapes, sizes, scales and filters; a fixed seed, so that a failure repeats."""
    rng = np.random.default_rng(11)
    applied = 0
    for _ in range(150):
        shape = (1, int(rng.integers(1, 3)), *(int(n) for n in rng.integers(2, 16, 2)))
        kind: Kind = {
            "mode": rng.choice(["linear", "cubic"]),
            MODE: rng.choice(["half_pixel", "pytorch_half_pixel", "asymmetric"]),
            "opset": 18,
        }
        if rng.random() < 0.5:
            kind["antialias"] = 1
        if kind["mode"] == "cubic":
            kind |= {"cubic_coeff_a": -0.5, "exclude_outside": int(rng.integers(2))}
        if rng.random() < 0.5:
            kind["sizes"] = [*shape[:2], *(int(n) for n in rng.integers(1, 25, 2))]
        else:
            kind["scales"] = [1, 1, *(float(n) for n in rng.uniform(0.6, 3, 2).round(2))]
        proto = resize(shape, **kind)
        found, edited = finding(ResizeToMatMul(), proto)
        if isinstance(found, Applied):
            x = {"x": rng.standard_normal(shape).astype(F32)}
            golden, y = run(proto, x)["y"], run(edited, x)["y"]
            # of few elements the range may be next to nothing
            span = max(float(np.ptp(golden)), float(np.ptp(x["x"])))
            assert np.abs(y - golden).max() <= RANGE * span, kind
            applied += 1

    assert applied > 90


@pytest.mark.parametrize("shape", [["N", 2, 4, 6], ["N", "C", 4, 6]])
def test_only_the_axes_that_are_resized_need_a_length(shape: list[int | str]) -> None:
    proto = resize(shape, scales=[1, 1, 1.5, 0.5], mode="cubic")

    after = applied(ResizeToMatMul(), proto)

    x = {"x": np.random.default_rng(0).standard_normal((3, 2, 4, 6)).astype(F32)}
    np.testing.assert_allclose(run(after, x)["y"], run(proto, x)["y"], rtol=0, atol=1e-5)
