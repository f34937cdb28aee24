"""ONNX's sampling positions against onnxruntime; CANN's have their test with the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.cann.sampling import (
    OnnxAxis,
    Sampling,
    onnx_nearest,
    onnx_positions,
    parsed,
)
from tests.models import F32, resize, run

Kind = dict[str, Any]
MODES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("length_in", "length_out"), [(4, 8), (7, 3), (5, 1), (4, 6), (1, 3)]
)
def test_linear_positions_are_onnxruntimes(
    mode: str, length_in: int, length_out: int
) -> None:
    x = np.arange(length_in, dtype=F32).reshape(1, 1, 1, -1)  # a ramp gives positions back
    proto = resize(
        x.shape,
        sizes=[1, 1, 1, length_out],
        mode="linear",
        coordinate_transformation_mode=mode,
    )

    axis = OnnxAxis(length_in, length_out, length_out / length_in)
    positions = np.clip(onnx_positions(mode, axis), 0, length_in - 1)

    np.testing.assert_allclose(run(proto, {"x": x})["y"].ravel(), positions, atol=1e-5)


@pytest.mark.parametrize("mode", [*MODES, "half_pixel_symmetric"])
@pytest.mark.parametrize(
    "nearest_mode", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]
)
@pytest.mark.parametrize("scale", [2.0, 0.5, 1.5, 1.3])
def test_nearest_indices_are_onnxruntimes(
    mode: str, nearest_mode: str, scale: float
) -> None:
    x = np.arange(8, dtype=F32).reshape(1, 1, 1, -1)
    kind: Kind = {
        "nearest_mode": nearest_mode,
        "coordinate_transformation_mode": mode,
    }
    proto = resize(x.shape, scales=[1, 1, 1, scale], mode="nearest", opset=19, **kind)

    axis = OnnxAxis(8, int(8 * scale), scale)

    expected = run(proto, {"x": x})["y"].ravel().tolist()
    assert onnx_nearest(mode, nearest_mode, axis).tolist() == expected


@pytest.mark.parametrize(
    ("mode", "sampling"),
    [
        ("half_pixel", Sampling.ASYMMETRIC),
        ("pytorch_half_pixel", Sampling.HALF_PIXEL),
        ("align_corners", Sampling.ALIGN_CORNERS),
        ("asymmetric", Sampling.ASYMMETRIC),
        ("tf_crop_and_resize", Sampling.ASYMMETRIC),
    ],
)
def test_the_parser_knows_two_strings(mode: str, sampling: Sampling) -> None:
    assert parsed(mode) is sampling
