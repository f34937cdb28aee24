"""ONNX's Resize along one axis, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.graph.resize_axes import (
    BEFORE_11,
    Filter,
    OnnxAxis,
    matrix,
    onnx_nearest,
    onnx_positions,
)
from tests.models import F32, model, node, resize, run

Kind = dict[str, Any]
MODES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
LENGTHS = [(4, 8), (7, 3), (5, 1), (4, 6), (1, 3), (18, 21), (15, 2)]


def axis(length_in: int, length_out: int) -> OnnxAxis:
    return OnnxAxis(length_in, length_out, length_out / length_in)


def row(length_in: int, length_out: int, **kind: Any) -> np.ndarray:
    """Resize each row of an identity matrix: gives the weights, length_out x length_in."""
    x = np.eye(length_in, dtype=F32).reshape(length_in, 1, 1, length_in)
    proto = resize(x.shape, sizes=[length_in, 1, 1, length_out], **kind)
    return np.asarray(run(proto, {"x": x})["y"]).reshape(length_in, length_out).T


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("length_in", "length_out"), LENGTHS)
def test_linear_positions_are_onnxruntimes(
    mode: str, length_in: int, length_out: int
) -> None:
    x = np.arange(length_in, dtype=F32).reshape(1, 1, 1, -1)  # a ramp gives positions back
    kind: Kind = {"mode": "linear", "coordinate_transformation_mode": mode}
    proto = resize(x.shape, sizes=[1, 1, 1, length_out], **kind)

    found = onnx_positions(mode, axis(length_in, length_out))
    positions = np.clip(found.astype(np.float64), 0, length_in - 1)

    np.testing.assert_allclose(run(proto, {"x": x})["y"].ravel(), positions, atol=1e-5)


@pytest.mark.parametrize("mode", [*MODES, "tf_half_pixel_for_nn"])
@pytest.mark.parametrize(
    "nearest_mode", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]
)
def test_nearest_indices_are_onnxruntimes_to_the_last_tie(
    mode: str, nearest_mode: str
) -> None:
    """Some positions are a tie but for fp32: 18 -> 21 and 15 -> 2, for example."""
    kind: Kind = {"nearest_mode": nearest_mode, "coordinate_transformation_mode": mode}
    for length_in in (1, 2, 3, 8, 9, 15, 18, 96):
        x = np.arange(length_in, dtype=F32).reshape(1, 1, 1, -1)
        for length_out in (1, 2, 3, 5, 8, 16, 21, 27, 56):
            proto = resize(x.shape, sizes=[1, 1, 1, length_out], mode="nearest", **kind)
            expected = run(proto, {"x": x})["y"].ravel().tolist()
            found = onnx_nearest(mode, nearest_mode, axis(length_in, length_out))
            assert found.tolist() == expected, (length_in, length_out)


@pytest.mark.parametrize("scale", [2.0, 0.5, 1.5, 1.3, 0.7])
@pytest.mark.parametrize("mode", MODES)
def test_given_scales_are_used_as_they_are(mode: str, scale: float) -> None:
    x = np.arange(8, dtype=F32).reshape(1, 1, 1, -1)
    kind: Kind = {"mode": "nearest", "coordinate_transformation_mode": mode}
    proto = resize(x.shape, scales=[1, 1, 1, scale], **kind)

    found = onnx_nearest(mode, "round_prefer_floor", OnnxAxis(8, int(8 * scale), scale))

    assert found.tolist() == run(proto, {"x": x})["y"].ravel().tolist()


@pytest.mark.parametrize("scale", [2.0, 1.5, 0.6, 0.45, 1 / 3])
def test_before_opset_11_onnxruntime_shortens_by_the_ceiling(scale: float) -> None:
    x = np.arange(7, dtype=F32).reshape(1, 1, 1, -1)
    proto = resize(x.shape, scales=[1, 1, 1, scale], opset=10, mode="nearest")
    expected = run(proto, {"x": x})["y"].ravel().tolist()

    length_out = int(F32(7) * F32(scale))
    found = onnx_nearest("asymmetric", BEFORE_11, OnnxAxis(7, length_out, scale))

    assert found.tolist() == expected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("length_in", "length_out"), LENGTHS)
@pytest.mark.parametrize(
    "kind",
    [
        {"mode": "linear"},
        {"mode": "linear", "antialias": 1, "opset": 18},
        {"mode": "cubic"},
        {"mode": "cubic", "cubic_coeff_a": -0.5},
        {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
        {"mode": "cubic", "antialias": 1, "opset": 18},
        {"mode": "cubic", "antialias": 1, "exclude_outside": 1, "opset": 18},
    ],
    ids=str,
)
def test_matrices_hold_the_weights_of_onnxruntime(
    kind: Kind, mode: str, length_in: int, length_out: int
) -> None:
    weigh = Filter(
        kind.get("cubic_coeff_a", -0.75) if kind["mode"] == "cubic" else None,
        bool(kind.get("antialias")),
        bool(kind.get("exclude_outside")),
    )

    found = matrix(mode, axis(length_in, length_out), weigh)

    expected = row(length_in, length_out, coordinate_transformation_mode=mode, **kind)
    # onnxruntime's weights are fp32
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6)


def test_what_lies_outside_the_region_of_interest_has_no_weight() -> None:
    kind: Kind = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
    x = np.eye(6, dtype=F32).reshape(6, 1, 1, 6)
    constants: dict[str, np.ndarray] = {
        "roi": np.array([0, 0, 0, -0.2, 1, 1, 1, 1.2], F32),
        "sizes": np.array([6, 1, 1, 8], np.int64),
    }
    nodes = [node("Resize", ["x", "roi", "", "sizes"], ["y"], **kind)]
    proto = model(nodes, [("x", x.shape)], [("y", [6, 1, 1, 8])], constants)

    cropped = OnnxAxis(6, 8, 8 / 6, float(F32(-0.2)), float(F32(1.2)))
    found = matrix("tf_crop_and_resize", cropped, Filter())

    expected = run(proto, {"x": x})["y"].reshape(6, 8).T
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6)
    assert not found[0].any()
    assert not found[-1].any()
