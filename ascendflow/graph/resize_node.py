"""Reads a Resize or Upsample node by ONNX's definition, at any rank and opset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ascendflow.graph.nodes import constant, input_at, static_shape
from ascendflow.graph.resize_axes import BEFORE_11, Filter, OnnxAxis

if TYPE_CHECKING:
    import onnx_ir as ir

MODE = "coordinate_transformation_mode"
CROP = "tf_crop_and_resize"
OP_TYPES = frozenset({"Resize", "Upsample"})
FIRST_WITH_MODE = 11
"""The first opset whose Resize has a coordinate_transformation_mode."""
LONGEST = 1 << 24
"""Elements of an axis beyond which its positions are not computed."""
_LATEST = 19


@dataclass(frozen=True)
class OnnxResize:
    """One Resize or Upsample whose lengths are all known.

    Attributes:
        opset: the operator set that the node is read in.
        is_upsample: it is an Upsample.
        interpolation: "nearest", "linear" or "cubic".
        mode: coordinate_transformation_mode, after ONNX's default.
        nearest_mode: after ONNX's default.
        axes: one for each dimension.
        asked: the lengths that sizes or scales ask for, before any policy.
        weigh: how linear and cubic weight elements.
        extrapolation_value: of outputs outside the axis, with tf_crop_and_resize.
    """

    opset: int
    is_upsample: bool
    interpolation: str
    mode: str
    nearest_mode: str
    axes: tuple[OnnxAxis, ...]
    asked: tuple[int, ...]
    weigh: Filter
    extrapolation_value: float

    @property
    def policy_changes_lengths(self) -> bool:
        """Whether keep_aspect_ratio_policy gives other lengths than were asked for."""
        return self.asked != tuple(axis.length_out for axis in self.axes)

    @property
    def has_mode(self) -> bool:
        """Whether its operator has a coordinate_transformation_mode."""
        return _has_mode(self.opset, is_upsample=self.is_upsample)

    @property
    def dispute(self) -> str | None:
        """Say what onnxruntime makes of this node otherwise than ONNX says, or None."""
        for axis in self.axes:
            if axis.length_in == axis.length_out and axis.changes:
                if self.mode == CROP and axis.scale == 1:
                    return "onnxruntime reads no roi along an axis whose length stays"
                if self.weigh.antialias and axis.scale != 1:
                    return "with antialias onnxruntime copies an axis whose length stays"
        return None


class _UnknownError(Exception):
    """The lengths of a node are not known; the message says why."""


@dataclass(frozen=True)
class _Lengths:
    """Lengths in and out, and scales, of every axis; `numbers` are those that are named."""

    before: tuple[int, ...]
    asked: tuple[int, ...]
    after: tuple[int, ...]
    scales: tuple[float, ...]
    numbers: tuple[int, ...]


def read_resize(node: ir.Node) -> OnnxResize | str:
    """Read `node`, a Resize or Upsample, or say why its lengths are not known."""
    opset, is_upsample = node.version or _LATEST, node.op_type == "Upsample"
    has_mode = _has_mode(opset, is_upsample=is_upsample)
    mode = node.attributes.get_string(MODE, "half_pixel") if has_mode else "asymmetric"
    try:
        lengths = _lengths(node, has_mode=has_mode)
        starts, ends = _roi(node, lengths) if mode == CROP else _whole(lengths)
    except _UnknownError as reason:
        return str(reason)
    interpolation = node.attributes.get_string("mode", "nearest")
    cubic = node.attributes.get_float("cubic_coeff_a", -0.75)
    nearest_mode = node.attributes.get_string("nearest_mode", "round_prefer_floor")
    axes = zip(lengths.before, lengths.after, lengths.scales, starts, ends, strict=True)
    return OnnxResize(
        opset=opset,
        is_upsample=is_upsample,
        interpolation=interpolation,
        mode=mode,
        nearest_mode=nearest_mode if has_mode else BEFORE_11,
        axes=tuple(OnnxAxis(*each) for each in axes),
        asked=lengths.asked,
        weigh=Filter(
            cubic if interpolation == "cubic" else None,
            bool(node.attributes.get_int("antialias", 0)),
            bool(node.attributes.get_int("exclude_outside", 0)),
        ),
        extrapolation_value=node.attributes.get_float("extrapolation_value", 0.0),
    )


def _has_mode(opset: int, *, is_upsample: bool) -> bool:
    return opset >= FIRST_WITH_MODE and not is_upsample


def _lengths(node: ir.Node, *, has_mode: bool) -> _Lengths:
    shape = static_shape(node.inputs[0])
    if shape is None:
        value = node.inputs[0]
        known = "unknown" if value is None or value.shape is None else str(value.shape)
        raise _UnknownError(f"its input's shape {known} is not fixed")
    if not shape:
        raise _UnknownError("its input is a scalar, which has no axis")
    named = node.attributes.get_ints("axes", range(len(shape)))
    numbers = tuple(number % len(shape) for number in named)
    given, is_sizes = _given(node, len(numbers), has_mode=has_mode)
    scales, asked = [1.0] * len(shape), list(shape)
    for number, each in zip(numbers, given.tolist(), strict=True):
        length = np.float32(shape[number]) * np.float32(each)
        if not np.isfinite(length):
            raise _UnknownError(f"axis {number} of length {shape[number]} times {each:g}")
        asked[number] = int(each) if is_sizes else int(length)
        scales[number] = asked[number] / max(shape[number], 1) if is_sizes else each
    lengths = _Lengths(shape, tuple(asked), tuple(asked), tuple(scales), numbers)
    policy = node.attributes.get_string("keep_aspect_ratio_policy", "stretch")
    if is_sizes and policy != "stretch":
        if min(named, default=0) < 0:
            raise _UnknownError(
                f"onnxruntime does not keep {policy!r} with axes counted from the end"
            )
        lengths = _kept_in_shape(lengths, smallest=policy == "not_larger")
    before, after = list(shape), list(lengths.after)
    if min(*lengths.asked, *after, *before) < 1:
        raise _UnknownError(f"it has an empty axis: {before} becomes {after}")
    if max(*lengths.asked, *after) > LONGEST:
        raise _UnknownError(f"it has too long an axis: {before} becomes {after}")
    return lengths


def _given(node: ir.Node, count: int, *, has_mode: bool) -> tuple[np.ndarray, bool]:
    """Return sizes or scales, and whether they are sizes."""
    sizes = constant(input_at(node, 3)) if has_mode else None
    if sizes is not None and sizes.size:
        given, is_sizes = sizes, True
    elif "scales" in node.attributes:  # Upsample-7
        scales = node.attributes.get_floats("scales", ())
        given, is_sizes = np.array(scales, np.float32), False
    else:
        found = constant(input_at(node, 2 if has_mode else 1))
        given, is_sizes = np.zeros(0) if found is None else found, False
    if given.size != count:
        raise _UnknownError(
            "its output size is not fixed: neither scales nor sizes is a constant of "
            f"{count}"
        )
    if not np.isfinite(given).all():
        raise _UnknownError(f"its scales are {given.tolist()}")
    return given.ravel(), is_sizes


def _kept_in_shape(lengths: _Lengths, *, smallest: bool) -> _Lengths:
    """Give all named axes one scale, the smallest or the largest of theirs."""
    pick = min if smallest else max
    scale = pick(lengths.scales[number] for number in lengths.numbers)
    scales, after = list(lengths.scales), list(lengths.after)
    for number in lengths.numbers:
        scales[number] = scale
        after[number] = int(np.floor(scale * lengths.before[number] + 0.5))
    return replace(lengths, scales=tuple(scales), after=tuple(after))


def _whole(lengths: _Lengths) -> tuple[list[float], list[float]]:
    rank = len(lengths.before)
    return [0.0] * rank, [1.0] * rank


def _roi(node: ir.Node, lengths: _Lengths) -> tuple[list[float], list[float]]:
    """Return where the region of interest starts and ends along each axis."""
    starts, ends = _whole(lengths)
    found, count = constant(input_at(node, 1)), len(lengths.numbers)
    if found is None or found.size != 2 * count:
        raise _UnknownError("its roi is not a constant of two numbers for each axis")
    roi = found.ravel()
    for place, number in enumerate(lengths.numbers):
        starts[number], ends[number] = float(roi[place]), float(roi[place + count])
    return starts, ends
