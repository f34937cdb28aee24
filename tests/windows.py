"""Pools in plain numpy, window by window; shares nothing with ascendflow."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import onnx


def windows(
    x: np.ndarray,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int] | None = None,
    *,
    fill: float,
) -> np.ndarray:
    """Cut (N, C, ...) into windows without gaps, floor mode.

    Returns:
        (N, C, outputs..., elements of a window).
    """
    rank = len(kernel)
    pads = pads or [0] * (2 * rank)
    around = [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)]
    wide = np.pad(x, around, constant_values=fill)
    counts = [
        (n - k) // s + 1 for n, k, s in zip(wide.shape[2:], kernel, strides, strict=True)
    ]
    cut = np.zeros((*x.shape[:2], *counts, int(np.prod(kernel))), F32)
    for place in product(*map(range, counts)):
        here: tuple[Any, ...] = tuple(
            slice(p * s, p * s + k) for p, s, k in zip(place, strides, kernel, strict=True)
        )
        there: tuple[Any, ...] = place
        cut[:, :, *there] = wide[:, :, *here].reshape(*x.shape[:2], -1)
    return cut


def pool(
    op_type: str, shape: Sequence[int | str], opset: int = 17, **attributes: Any
) -> onnx.ModelProto:
    """Make one pool called "pool", from x to y."""
    pooled = node(op_type, ["x"], ["y"], name="pool", **attributes)
    output = [f"y{axis}" for axis in range(len(shape))]
    return model([pooled], [("x", shape)], [("y", output)], opset=opset)


def numbers(*shape: int) -> np.ndarray:
    """Random numbers that are fp16 numbers too, so that storage does not round them."""
    x = np.random.default_rng(0).standard_normal(shape)
    return x.astype(np.float16).astype(F32)


def outputs(
    proto: onnx.ModelProto, edited: onnx.ModelProto, dtype: Any = F32
) -> tuple[np.ndarray, np.ndarray]:
    """Run both in onnxruntime on one random x; returns y before and after."""
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    x = (np.random.default_rng(1).standard_normal(shape) * 20).astype(dtype)
    return run(proto, {"x": x})["y"], run(edited, {"x": x})["y"]


def random_pools(
    op_type: str, count: int, *, opset: int = 17, **fixed: Any
) -> Iterator[onnx.ModelProto]:
    """Make pools with random attributes of one to three axes that onnxruntime takes."""
    random = np.random.default_rng(0)
    for _ in range(count):
        rank = len(fixed.get("kernel_shape", ())) or int(random.integers(1, 4))
        kernel = fixed.get("kernel_shape") or random.integers(1, 5, rank).tolist()
        dilations = fixed.get("dilations") or random.integers(1, 4, rank).tolist()
        extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        lengths = [extent + int(random.integers(0, 9)) for extent in extents]
        kind: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": random.integers(1, 4, rank).tolist(),
            "ceil_mode": int(random.integers(0, 2)),
            "pads": [int(random.integers(0, k)) for k in kernel * 2],
        }
        if op_type == "MaxPool" or opset >= 18:
            kind["dilations"] = dilations
        if op_type == "AveragePool":
            kind.pop("dilations", None)
            kind["count_include_pad"] = int(random.integers(0, 2))
        kind |= fixed
        kind = {name: value for name, value in kind.items() if value is not None}
        yield pool(op_type, [2, 3, *lengths], opset, **kind)
