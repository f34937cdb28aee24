"""Resize and Upsample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.deviating.case import Case, Cases, one
from tests.emulation import FP32
from tests.models import F32, Shape, resize

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx


def upsample(
    up: Sequence[float], mode: str, shape: Shape = (1, 2, 4, 6)
) -> onnx.ModelProto:
    """Make an Upsample-9 of the last axes."""
    scales = np.array([*[1] * (len(shape) - len(up)), *up], F32)
    return one("Upsample", ["x", "s"], {"s": scales}, x=shape, opset=9, mode=mode)


def resizes() -> Cases:
    """Give those of Resize and Upsample."""
    x, open_ = (1, 2, 4, 6), {**FP32, "cann": "9.1"}
    half: dict[str, Any] = {
        "mode": "linear",
        "coordinate_transformation_mode": "half_pixel",
    }
    torch: dict[str, Any] = {
        "mode": "linear",
        "coordinate_transformation_mode": "pytorch_half_pixel",
    }
    plain: dict[str, Any] = {
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "ceil",
    }

    def sized(height: int, width: int, *, opset: int = 17, **kind: Any) -> onnx.ModelProto:
        return resize(x, sizes=[1, 2, height, width], opset=opset, **kind)

    ten = resize(x, scales=[1, 1, 2, 3], opset=10, mode="linear")
    return {
        ("resize-half-pixel", "Resize"): [
            Case(sized(8, 12, **half), FP32),
            Case(sized(8, 12, **half), open_),
        ],
        ("resize-length-one", "Resize"): [
            Case(sized(1, 12, **kind), FP32) for kind in (half, torch)
        ],
        ("resize-own-scale", "Resize"): [
            Case(resize((1, 2, 5, 5), scales=[1, 1, 1.5, 1.5], **torch), FP32)
        ],
        ("resize-own-scale", "Upsample"): [
            Case(upsample([1.5, 1.5], "linear", (1, 2, 5, 5)), FP32)
        ],
        ("resize-ignored-attr", "Resize"): [
            Case(sized(2, 3, opset=18, antialias=1, **torch), FP32)
        ],
        ("resize-nearest-tie", "Resize"): [Case(sized(3, 4, mode="nearest"), FP32)],
        ("resize-nearest-tie", "Upsample"): [
            Case(upsample([1.3, 1.3], "nearest", (1, 2, 8, 8)), FP32)
        ],
        ("resize-nearest-attr", "Resize"): [
            Case(sized(8, 12, mode="nearest", **plain), FP32)
        ],
        ("resize-cubic", "Resize"): [Case(sized(8, 12, mode="cubic"), FP32)],
        ("resize-cubic", "Upsample"): [Case(upsample([2, 3], "cubic"), FP32)],
        ("resize-shape", "Resize"): [
            Case(resize([2, 4, 6], sizes=[2, 8, 9], mode="linear"), FP32)
        ],
        ("resize-shape", "Upsample"): [Case(upsample([2, 3], "linear", (2, 4, 6)), FP32)],
        ("resize-nearest-shape", "Resize"): [
            Case(resize([2, 4, 6], sizes=[2, 8, 9], mode="nearest"), FP32)
        ],
        ("resize-nearest-shape", "Upsample"): [
            Case(upsample([2, 3], "nearest", (2, 4, 6)), FP32)
        ],
        ("resize-opset10-ctm", "Resize"): [Case(ten, open_)],
        ("upsample-ctm", "Upsample"): [Case(upsample([2, 3], "linear"), open_)],
        ("upsample-nearest-ctm", "Upsample"): [
            Case(upsample([1.5, 2.5], "nearest"), open_)
        ],
    }
