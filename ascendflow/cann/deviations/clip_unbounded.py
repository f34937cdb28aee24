"""Clip from opset 11 on without min and max: a parse error.

Up to 6.0 the parser counts inputs, so a third input that is there saves the node even where
both bounds are empty; then it clips to +-3.4e38, which changes infinities only.

Source: canndev `clip_plugin.cc`, 2022-06; ops-math `clip_onnx_plugin.cpp`, 9.1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation

if TYPE_CHECKING:
    import onnx_ir as ir

_BOUNDS_ARE_INPUTS = 11
_MIN_AND_MAX = 2


class ClipUnbounded(NodeDeviation):
    """Clip that clips nothing."""

    name: ClassVar[str] = "clip-unbounded"
    op_types: ClassVar[frozenset[str]] = frozenset({"Clip"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = (
        "Both bounds are optional; without them only infinities are clipped."
    )
    cann: ClassVar[str] = "At least one bound is asked for; without any the parser fails."
    cure: ClassVar[str | None] = "clip-unbounded"
    source: ClassVar[str] = (
        "canndev clip_plugin.cc 2022-06; ops-math clip_onnx_plugin.cpp 9.1.0"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "high")
    """Read at both ends: up to 6.0, and from 8.5 on."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for bounds."""
        if (node.version or 0) < _BOUNDS_ARE_INPUTS:
            return Harmless(f"opset {node.version} has bounds by default")
        if any(value is not None for value in node.inputs[1:]):
            return Harmless("it has a bound")
        if conditions.profile.is_read and len(node.inputs) > _MIN_AND_MAX:
            return Harmless("CANN up to 6.0 counts inputs, and the empty ones count")
        return Found("it has neither min nor max", "rejected")
