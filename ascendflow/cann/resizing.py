"""Reads a Resize node the way CANN's parser up to 8.1 reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.cann.gap import Gap
from ascendflow.cann.sampling import OnnxAxis, Sampling, parsed
from ascendflow.graph.nodes import constant, static_shape

if TYPE_CHECKING:
    import onnx_ir as ir

MODE = "coordinate_transformation_mode"
_LATEST = 19


@dataclass(frozen=True)
class Resizing:
    """One Resize over the two last axes of N, C, H, W.

    Attributes:
        opset: the operator set that the node is read in.
        linear: linear interpolation; otherwise nearest.
        onnx_mode: coordinate_transformation_mode, after ONNX's default.
        nearest_mode: after ONNX's default.
        sampling: what CANN makes of it.
        output_shape: N, C, H, W as CANN computes them.
        axes: H and W; the scale is ONNX's.
        ignored: attributes that change ONNX's values here and that CANN does not read.
    """

    opset: int
    linear: bool
    onnx_mode: str
    nearest_mode: str
    sampling: Sampling
    output_shape: tuple[int, ...]
    axes: tuple[OnnxAxis, OnnxAxis]
    ignored: tuple[str, ...]


def read(node: ir.Node) -> Resizing | Gap:
    """Read `node`, or say why CANN refuses it or no model of it exists."""
    interpolation = node.attributes.get_string("mode", "nearest")
    if interpolation not in {"linear", "nearest"}:
        return Gap(f"CANN's parser refuses mode {interpolation!r}", refused=True)
    shape = static_shape(node.inputs[0])
    if shape is None or len(shape) != 4:
        return Gap(f"its input's shape {_spell(node.inputs[0])} is not four fixed lengths")
    if "axes" in node.attributes:
        return Gap("CANN does not read `axes`, so it takes other elements of the sizes")
    opset = node.version or _LATEST
    scales = constant(_input(node, 1 if opset < 11 else 2))
    sizes = constant(_input(node, 3)) if opset >= 11 else None
    given = sizes if sizes is not None and sizes.size else scales
    if given is None or given.size != 4:
        return Gap(
            "its output size is not fixed: neither scales nor sizes is a constant of 4"
        )
    is_sizes = given is sizes
    # The kernel resizes H and W only, whatever is said of the others.
    if (is_sizes and tuple(given[:2]) != shape[:2]) or (
        not is_sizes and any(given[:2] != 1)
    ):
        return Gap(f"it resizes N or C too: {given.tolist()} for {list(shape)}")
    return _resizing(node, opset, shape, given.tolist(), is_sizes=is_sizes)


def _resizing(
    node: ir.Node, opset: int, shape: tuple[int, ...], given: list[float], *, is_sizes: bool
) -> Resizing | Gap:
    import numpy as np

    lengths = [
        int(number) if is_sizes else int(np.float32(length) * np.float32(number))
        for length, number in zip(shape[2:], given[2:], strict=True)
    ]
    if min(*lengths, *shape) < 1:
        return Gap(f"it has an empty axis: {list(shape)} becomes {lengths}")
    height, width = (
        OnnxAxis(
            length_in, length_out, length_out / length_in if is_sizes else float(scale)
        )
        for length_in, length_out, scale in zip(shape[2:], lengths, given[2:], strict=True)
    )
    mode = node.attributes.get_string(MODE, "half_pixel") if opset >= 11 else "asymmetric"
    return Resizing(
        opset=opset,
        linear=node.attributes.get_string("mode", "nearest") == "linear",
        onnx_mode=mode,
        nearest_mode=_nearest_mode(node, opset),
        sampling=parsed(mode),
        output_shape=(*shape[:2], *lengths),
        axes=(height, width),
        ignored=_ignored(node, mode, (height, width), is_sizes=is_sizes),
    )


def _nearest_mode(node: ir.Node, opset: int) -> str:
    if opset < 11:
        return "floor"
    return node.attributes.get_string("nearest_mode", "round_prefer_floor")


def _ignored(
    node: ir.Node, mode: str, axes: tuple[OnnxAxis, OnnxAxis], *, is_sizes: bool
) -> tuple[str, ...]:
    """Name what makes ONNX compute something else and is not read by CANN."""
    names = []
    if node.attributes.get_int("antialias", 0) and any(axis.scale < 1 for axis in axes):
        names.append("antialias")
    policy = node.attributes.get_string("keep_aspect_ratio_policy", "stretch")
    if is_sizes and policy != "stretch":
        names.append("keep_aspect_ratio_policy")
    if mode == "tf_crop_and_resize":
        names.append("roi")
    return tuple(names)


def _input(node: ir.Node, index: int) -> ir.Value | None:
    return node.inputs[index] if index < len(node.inputs) else None


def _spell(value: ir.Value | None) -> str:
    return "unknown" if value is None or value.shape is None else str(value.shape)
