"""Reads a Resize or Upsample node by ONNX's definition, at any rank and opset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ascendflow.graph.computed_sizes import computed_sizes, lengths_of
from ascendflow.graph.nodes import constant, input_at
from ascendflow.graph.resize_axes import BEFORE_11, Filter, OnnxAxis

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

MODE = "coordinate_transformation_mode"
CROP = "tf_crop_and_resize"
OP_TYPES = frozenset({"Resize", "Upsample"})
FIRST_WITH_MODE = 11
"""The first opset whose Resize has a coordinate_transformation_mode."""
LONGEST = 1 << 24
"""Elements of an axis beyond which its positions are not computed."""
_LATEST = 19
_STAYS = -(1 << 62)
"""In place of a size: the open length of the axis itself."""


@dataclass(frozen=True)
class OnnxResize:
    """One Resize or Upsample; the lengths of all axes that it resizes are known.

    Attributes:
        opset: the operator set that the node is read in.
        is_upsample: it is an Upsample.
        interpolation: "nearest", "linear" or "cubic".
        mode: coordinate_transformation_mode, after ONNX's default.
        nearest_mode: after ONNX's default.
        axes: one for each dimension.
        open_axes: those of open length; they stay as they are, and count as 1 long.
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
    open_axes: frozenset[int]
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
    """Lengths in and out, and scales, of every axis; `numbers` are those that are named.

    An open axis counts as 1 long and stays so.
    """

    before: tuple[int, ...]
    asked: tuple[int, ...]
    after: tuple[int, ...]
    scales: tuple[float, ...]
    numbers: tuple[int, ...]
    open_axes: frozenset[int]


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
        open_axes=lengths.open_axes,
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


def _spelled_shape(value: ir.Value | None) -> str:
    """Spell a shape; what stands for an open length may be a formula of a whole line."""
    if value is None or value.shape is None:
        return "unknown"
    lengths = (str(length) for length in value.shape)
    return f"[{','.join('?' if '(' in each else each for each in lengths)}]"


def _lengths(node: ir.Node, *, has_mode: bool) -> _Lengths:
    shape, open_axes = _shape(node)
    named = node.attributes.get_ints("axes", range(len(shape)))
    numbers = tuple(number % len(shape) for number in named)
    given, is_sizes = _given(node, numbers, has_mode=has_mode)
    scales, asked = [1.0] * len(shape), list(shape)
    for number, each in zip(numbers, given.tolist(), strict=True):
        if number in open_axes:
            if each != (_STAYS if is_sizes else 1):
                raise _not_fixed(node.inputs[0])
            continue
        length = np.float32(shape[number]) * np.float32(each)
        if not np.isfinite(length):
            raise _UnknownError(f"axis {number} of length {shape[number]} times {each:g}")
        asked[number] = int(each) if is_sizes else int(length)
        scales[number] = asked[number] / max(shape[number], 1) if is_sizes else each
    lengths = _Lengths(shape, tuple(asked), tuple(asked), tuple(scales), numbers, open_axes)
    if is_sizes:
        lengths = _by_policy(node, lengths)
    before, after = list(shape), list(lengths.after)
    if min(*lengths.asked, *after, *before) < 1:
        raise _UnknownError(f"it has an empty axis: {before} becomes {after}")
    if max(*lengths.asked, *after) > LONGEST:
        raise _UnknownError(f"it has too long an axis: {before} becomes {after}")
    return lengths


def _not_fixed(value: ir.Value | None) -> _UnknownError:
    return _UnknownError(f"its input's shape {_spelled_shape(value)} is not fixed")


def _shape(node: ir.Node) -> tuple[tuple[int, ...], frozenset[int]]:
    """Return the input's shape, 1 where it is open, and the axes where it is."""
    value = node.inputs[0]
    if value is None or value.shape is None:
        raise _not_fixed(value)
    dims = tuple(value.shape)
    if not dims:
        raise _UnknownError("its input is a scalar, which has no axis")
    shape = tuple(length if isinstance(length, int) else 1 for length in dims)
    opened = (axis for axis, length in enumerate(dims) if not isinstance(length, int))
    return shape, frozenset(opened)


def _given(
    node: ir.Node, numbers: Sequence[int], *, has_mode: bool
) -> tuple[np.ndarray, bool]:
    """Return sizes or scales of axes `numbers`, and whether they are sizes."""
    sizes, count = _sizes(node, numbers) if has_mode else None, len(numbers)
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


def _sizes(node: ir.Node, numbers: Sequence[int]) -> np.ndarray | None:
    """Return the sizes, `_STAYS` where one is the open length of the axis itself."""
    elements = computed_sizes(input_at(node, 3))
    if elements is None or len(elements) != len(numbers):
        return constant(input_at(node, 3))
    own = lengths_of(node.inputs[0]) or []
    sizes = [
        _STAYS if isinstance(element, str) and element == own[number] else element
        for element, number in zip(elements, numbers, strict=True)
    ]
    whole = [size for size in sizes if isinstance(size, int)]
    return np.array(whole, np.int64) if len(whole) == len(sizes) else None


def _by_policy(node: ir.Node, lengths: _Lengths) -> _Lengths:
    """Do to the sizes that were asked for as `keep_aspect_ratio_policy` says."""
    policy = node.attributes.get_string("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return lengths
    if lengths.open_axes & set(lengths.numbers):
        raise _not_fixed(node.inputs[0])
    if min(node.attributes.get_ints("axes", ()), default=0) < 0:
        raise _UnknownError(
            f"onnxruntime does not keep {policy!r} with axes counted from the end"
        )
    return _kept_in_shape(lengths, smallest=policy == "not_larger")


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
        if number in lengths.open_axes and (starts[number], ends[number]) != (0, 1):
            raise _not_fixed(node.inputs[0])
    return starts, ends
