"""Resize: coordinate_transformation_mode `half_pixel` -> `pytorch_half_pixel`.

ATC's Resize plugin turns half-pixel sampling on only for the spelling
`pytorch_half_pixel`; the ONNX default `half_pixel` falls through to asymmetric
sampling, silently. This rule picks the spelling that works.

By the ONNX definition the two modes differ only where the output length is 1 and the
input length is not, so on every node this rule touches onnxruntime must return the
same values before and after; the `check` stage holds us to that.

Cubic is left alone: CANN refuses it under either spelling, as read up to 6.0 and carried
on to 8.4; from 8.5 on it goes to a pass that is not open. Opset 10 has no such attribute.
What this rule leaves alone, `resize-to-matmul` and `resize-nearest-gather` take.

Source: ONNX operator docs, Resize-19; CANN canndev `resize_plugin.cc`, 2021-07 to
2022-06, which tests for this spelling and for `align_corners` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.graph.nodes import static_shape
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
    known = static_shape(node.inputs[0]) or ()
    lengths_in = known if len(known) == 4 else (None,) * 4
    for axis, length in zip("HW", tuple(shape)[2:], strict=True):
        if not isinstance(length, int):
            return f"{axis} is dynamic, so it could be 1, where the modes differ"
        # From length 1 to length 1 both modes sample the one element there is.
        if length == 1 and lengths_in["NCHW".index(axis)] != 1:
            return f"{axis} is 1, where the modes differ by definition"
    return None
