"""RoiAlign with mode max against a plain loop that averages, roi_end_mode 0 and 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.emulation import FP32, Linted, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

X = np.random.default_rng(0).standard_normal((1, 2, 8, 8)).astype(F32)
ROIS = np.array([[0, 0, 7, 7], [2, 1, 12, 9]], F32)
FEEDS: dict[str, np.ndarray] = {"x": X, "rois": ROIS, "batch": np.zeros(2, np.int64)}


def roialign(opset: int = 15, **kind: Any) -> onnx.ModelProto:
    sizes = {
        "output_height": 3,
        "output_width": 2,
        "sampling_ratio": 2,
        "spatial_scale": 0.5,
    }
    return model(
        [node("RoiAlign", ["x", "rois", "batch"], ["y"], name="roi", **sizes, **kind)],
        [("x", [1, 2, 8, 8]), ("rois", [2, 4]), ("batch", [2], TensorProto.INT64)],
        [("y", [2, 2, 3, 2])],
        opset=opset,
    )


def bilinear(picture: np.ndarray, y: float, x: float) -> np.ndarray:
    height, width = picture.shape[1:]
    y, x = max(y, 0.0), max(x, 0.0)
    top, left = min(int(y), height - 1), min(int(x), width - 1)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    dy, dx = min(y, height - 1.0) - top, min(x, width - 1.0) - left
    upper = picture[:, top, left] * (1 - dx) + picture[:, top, right] * dx
    lower = picture[:, bottom, left] * (1 - dx) + picture[:, bottom, right] * dx
    return np.asarray(upper * (1 - dy) + lower * dy)


def averaged(*, half_pixel: bool) -> np.ndarray:
    made = np.zeros((2, 2, 3, 2))
    for n, roi in enumerate(ROIS.astype(np.float64) * 0.5 - 0.5 * half_pixel):
        x1, y1, x2, y2 = roi
        width, height = x2 - x1, y2 - y1
        if not half_pixel:
            width, height = max(width, 1.0), max(height, 1.0)
        for i in range(3):
            for j in range(2):
                samples = [
                    bilinear(
                        X[0],
                        y1 + (i + (a + 0.5) / 2) * height / 3,
                        x1 + (j + (b + 0.5) / 2) * width / 2,
                    )
                    for a in range(2)
                    for b in range(2)
                ]
                made[n, :, i, j] = np.mean(samples, axis=0)
    return made


@pytest.mark.parametrize(
    ("opset", "cann", "half_pixel"),
    [(15, "6.0", False), (15, "8.1", False), (16, "8.1", True), (16, "9.1", True)],
)
def test_a_bin_is_an_average(opset: int, cann: str, half_pixel: bool) -> None:
    proto = roialign(opset, mode="max")

    y = emulate(proto, FEEDS, cann=cann, **FP32)["y"]

    # fp32 positions against fp64
    np.testing.assert_allclose(y, averaged(half_pixel=half_pixel), rtol=0, atol=2e-6)
    assert np.abs(y - run(proto, FEEDS)["y"]).max() > 0.2
    assert linted(proto, cann=cann) == [Linted("roi", "roialign-max", "silent")]


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(roialign(), id="default"),
        pytest.param(roialign(mode="avg"), id="avg"),
        pytest.param(roialign(16), id="half-pixel"),
        pytest.param(
            roialign(16, coordinate_transformation_mode="output_half_pixel"), id="unshifted"
        ),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto) -> None:
    assert linted(proto) == []
    np.testing.assert_array_equal(
        emulate(proto, FEEDS, **FP32)["y"], run(proto, FEEDS)["y"]
    )
