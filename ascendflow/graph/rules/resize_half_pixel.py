"""Resize: coordinate_transformation_mode `half_pixel` -> `pytorch_half_pixel`.

ATC's Resize plugin turns half-pixel sampling on only for the spelling
`pytorch_half_pixel`; the ONNX default `half_pixel` falls through to asymmetric
sampling, silently. This rule picks the spelling that works.

By the ONNX definition the two modes differ only where the output length is 1 and the
input length is not, so on every node this rule touches onnxruntime must return the
same values before and after; the `check` stage holds us to that. An axis of open length
that a scale of 1 or more resizes comes out as 1 only from 1, so it is taken too; so is one
that no gear makes 1.

Cubic is left alone: CANN refuses it under either spelling, as read up to 6.0 and carried
on to 8.4; from 8.5 on it goes to a pass that is not open. Opset 10 has no such attribute.
What this rule leaves alone, `resize-to-matmul` and `resize-nearest-gather` take.

Source: ONNX operator docs, Resize-19; CANN canndev `resize_plugin.cc`, 2021-07 to
2022-06, which tests for this spelling and for `align_corners` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.graph.gears import shapes_of
from ascendflow.graph.nodes import constant, input_at, length_along
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.rewrite_log import Effect

MODE = "coordinate_transformation_mode"
DEFAULT_MODE = "half_pixel"
CURED_MODE = "pytorch_half_pixel"


class ResizeHalfPixel(Rule):
    """Spell half-pixel sampling the way ATC recognises it."""

    name: ClassVar[str] = "resize-half-pixel"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Rewrite one `Resize` node in place."""
        if node.version is not None and node.version < 11:
            yield Skipped(node, f"opset {node.version} has no {MODE}; it is asymmetric")
            return
        interpolation = node.attributes.get_string("mode", "nearest")
        if interpolation != "linear":
            yield Skipped(node, f"mode is {interpolation!r}, not 'linear'")
            return
        mode = node.attributes.get_string(MODE, DEFAULT_MODE)
        if mode != DEFAULT_MODE:
            yield Skipped(node, f"{MODE} is {mode!r}, not {DEFAULT_MODE!r}")
            return
        if (reason := _why_values_could_change(node)) is not None:
            yield Skipped(node, reason)
            return
        node.attributes[MODE] = ir.AttrString(MODE, CURED_MODE)
        yield Applied(node, before={MODE: mode}, after={MODE: CURED_MODE})


def _why_values_could_change(node: ir.Node) -> str | None:
    """Return why the two modes might disagree on `node`, or None."""
    shape = node.outputs[0].shape
    if shape is None or len(shape) != 4:  # N, C, H, W
        return f"output shape is {shape or 'unknown'}, not one of four dimensions"
    for number, axis in ((2, "H"), (3, "W")):
        # From length 1 to length 1 both modes sample the one element there is.
        length, stays_one = shape[number], length_along(node.inputs[0], number) == 1
        if not isinstance(length, int) and (gears := _in_gears(node, number)):
            if any(after == 1 != before for before, after in gears):
                return f"{axis} is 1 in a gear, where the modes differ by definition"
        elif not isinstance(length, int) and not _never_shortens(node, number):
            return (
                f"{axis} is dynamic, so it could be 1, where the modes differ; it must be "
                "fixed, or resized by a constant scale of 1 or more"
            )
        if length == 1 and not stays_one:
            return f"{axis} is 1, where the modes differ by definition"
    return None


def _in_gears(node: ir.Node, axis: int) -> list[tuple[int, int]]:
    """Return the lengths in and out along `axis` in every gear; none if unknown."""
    before, after = shapes_of(node.inputs[0]), shapes_of(node.outputs[0])
    if len(before) == 1:  # fixed: the same in every gear
        before = [*before] * len(after)
    if len(before) != len(after) or any(len(shape) <= axis for shape in (*before, *after)):
        return []
    return [(b[axis], a[axis]) for b, a in zip(before, after, strict=True)]


def _never_shortens(node: ir.Node, axis: int) -> bool:
    """Whether a constant scale of 1 or more resizes `axis`, whatever its length is."""
    sizes = input_at(node, 3)
    if sizes is not None and ((known := constant(sizes)) is None or known.size):
        return False
    scales = constant(input_at(node, 2))
    if scales is None or scales.size != 4 or "axes" in node.attributes:
        return False
    return bool(scales.ravel()[axis] >= 1)
