"""Slices that are empty.

ATC does not take empty tensors "in some cases"; which ones is not said. A slice whose
constant start is its end gives one, mostly for a Concat, which it adds nothing to. What
nothing reads is pruned, so it is not named.

Source: msit `knowledge_empty_slice_fix.py` and its description.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.graph.empty_axis import empty_axis

if TYPE_CHECKING:
    import onnx_ir as ir


class EmptySlice(NodeDeviation):
    """A slice from an index to the same index."""

    name: ClassVar[str] = "empty-slice"
    op_types: ClassVar[frozenset[str]] = frozenset({"Slice"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "A tensor may have a dimension of length 0."
    cann: ClassVar[str] = "ATC does not take empty tensors in some cases."
    cure: ClassVar[str | None] = "empty-slice"
    source: ClassVar[str] = "msit knowledge_empty_slice_fix.py and its description"
    confidences: ClassVar[Confidences] = Confidences("low", "low", "low")
    """A tool's word; no parser says so."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Compare constant starts and ends."""
        output = node.outputs[0]
        if not output.uses() and not output.is_graph_output():
            return Harmless("nothing reads it, so it is pruned")
        axis = empty_axis(node)
        if axis is None:
            return Harmless("no axis is known to be empty")
        return Found(f"axis {axis} is sliced from an index to itself", "unknown")
