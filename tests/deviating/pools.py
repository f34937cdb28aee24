"""Pools and convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.deviating.case import OLD, Case, Cases, one
from tests.emulation import FP32
from tests.models import F32, Spec, model, node
from tests.windows import pool

if TYPE_CHECKING:
    import onnx

_PAST: dict[str, Any] = {
    "kernel_shape": [3, 3], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1,
}  # fmt: skip
_BIG: dict[str, Any] = {"kernel_shape": [16, 16], "strides": [8, 8]}
_LOWER: dict[str, Any] = {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"}


def _pool(op_type: str, *shape: int, opset: int = 17, **kind: Any) -> onnx.ModelProto:
    return pool(op_type, [1, 2, *shape], opset, **kind)


def pools() -> Cases:
    """Give those of pools."""
    cube: dict[str, Any] = {
        "kernel_shape": [2] * 3,
        "strides": [2] * 3,
        "auto_pad": "SAME_UPPER",
    }
    gaps: dict[str, Any] = {"kernel_shape": [2, 2], "dilations": [2, 2]}
    padded: dict[str, Any] = {"pads": [4, 4, 4, 4]}
    lost: list[dict[str, Any]] = [{"ceil_mode": 1}, {"auto_pad": "SAME_UPPER"}]
    return {
        ("pool-indices", "MaxPool"): [
            Case(_pool("MaxPool", 6, 7, kernel_shape=[2, 2], storage_order=1), {})
        ],
        ("maxpool-big-window", "MaxPool"): [
            Case(_pool("MaxPool", 30, 37, **_BIG, **kind), FP32) for kind in [*lost, padded]
        ],
        ("avgpool-big-window", "AveragePool"): [
            Case(_pool("AveragePool", 30, 37, opset=13, **_BIG, **kind), OLD)
            for kind in [*lost, padded]
        ],
        ("avgpool3d-auto-pad", "AveragePool"): [
            Case(_pool("AveragePool", 5, 5, 5, **cube), {})
        ],
        ("avgpool-ceil-mode", "AveragePool"): [
            Case(_pool("AveragePool", 2, 2, **_PAST), {}),
            Case(_pool("AveragePool", 6, 6, **_PAST, count_include_pad=1), {}),
        ],
        ("lppool-ceil-mode", "LpPool"): [
            Case(
                _pool(
                    "LpPool",
                    5,
                    7,
                    opset=18,
                    kernel_shape=[2, 2],
                    strides=[2, 2],
                    ceil_mode=1,
                ),
                {},
            )
        ],
        ("lppool-auto-pad", "LpPool"): [
            Case(_pool("LpPool", 5, 5, 5, opset=18, **cube), {}),
            Case(_pool("LpPool", 30, 37, opset=18, **_BIG, auto_pad="SAME_UPPER"), {}),
        ],
        ("lppool-same-crops", "LpPool"): [
            Case(
                _pool(
                    "LpPool",
                    9,
                    6,
                    kernel_shape=[2, 2],
                    strides=[5, 2],
                    auto_pad="SAME_UPPER",
                ),
                {},
            )
        ],
        ("maxpool-ceil-window", "MaxPool"): [Case(_pool("MaxPool", 2, 2, **_PAST), {})],
        ("maxpool-dilation", "MaxPool"): [
            Case(_pool("MaxPool", 7, 8, **gaps), {}),
            Case(_pool("MaxPool", 2, 8, **gaps, pads=[1, 1, 1, 1]), {}),
            Case(_pool("MaxPool", 7, 7, 7, kernel_shape=[2] * 3, dilations=[2] * 3), {}),
        ],
        **{
            ("pool-same-lower", op_type): [Case(_pool(op_type, 5, 6, **_LOWER), {})]
            for op_type in ("AveragePool", "LpPool", "MaxPool")
        },
    }


def leaking(kernel: int) -> onnx.ModelProto:
    """Make two ConvTransposes; of a kernel of 4 the output_shape alone does no harm."""
    kind: dict[str, Any] = {"kernel_shape": [kernel] * 2, "strides": [2, 2]}
    nodes = [
        node("ConvTranspose", ["x", "w"], ["a"], output_shape=[12, 14], **kind),
        node("ConvTranspose", ["x", "w"], ["y"], pads=[1] * 4, **kind),
    ]
    weights = {"w": np.linspace(-1, 1, 4 * kernel**2, dtype=F32)}
    weights["w"] = weights["w"].reshape(2, 2, kernel, kernel)
    outputs: list[Spec] = [("a", [1, 2, 12, 14]), ("y", ["n", "c", "h", "w"])]
    return model(nodes, [("x", [1, 2, 6, 7])], outputs, weights)


def convolutions() -> Cases:
    """Give those of convolutions."""
    weights = {"w": np.linspace(-1, 1, 36, dtype=F32).reshape(2, 2, 3, 3)}
    plain: dict[str, Any] = {"x": (1, 2, 6, 7)}
    cube = {"w": np.ones((2, 2, 2, 2, 2), F32)}
    shaped: dict[str, Any] = {
        "kernel_shape": [3, 3],
        "strides": [2, 2],
        "output_shape": [11, 13],
    }
    flags = [leaking(kernel) for kernel in (3, 4)]
    return {
        ("conv-attributes", "Conv"): [Case(one("Conv", ["x", "w"], weights, **plain), {})],
        ("conv3d-auto-pad", "Conv"): [
            Case(
                one(
                    "Conv",
                    ["x", "w"],
                    cube,
                    x=(1, 2, 5, 5, 5),
                    kernel_shape=[2] * 3,
                    auto_pad="SAME_LOWER",
                ),
                {},
            )
        ],
        ("convtranspose-kernel-shape", "ConvTranspose"): [
            Case(one("ConvTranspose", ["x", "w"], weights, **plain), {})
        ],
        ("convtranspose-output-shape", "ConvTranspose"): [
            Case(one("ConvTranspose", ["x", "w"], weights, **plain, **shaped), {})
        ],
        ("convtranspose-leaking-flags", ""): [Case(each, {}) for each in flags],
    }
