"""Reductions with noop_with_empty_axes=1 and no axes: they reduce over everything.

* ReduceSum, opset 13 on: without an axes input it is a parse error; with one that is empty
  the attribute is dropped, until 9.1 forwards it.
* ReduceMax, ReduceMin, ReduceProd, ReduceLogSum and ReduceLogSumExp, opset 18: a warning
  until 9.0; 9.1 forwards the attribute.
* ReduceMean, ReduceSumSquare, ReduceL1, ReduceL2: a warning in every version.

An empty list of axes is how CANN's own parsers spell "all axes".

Source: canndev `reduce_sum_plugin.cc`, 2022-06; ops-math `reduce_*_onnx_plugin.cpp`, 8.5.0,
9.0.0 and 9.1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.profile import Release
from ascendflow.graph.reductions import NOOP, REDUCTIONS, Axes, reads_axes

if TYPE_CHECKING:
    import onnx_ir as ir

_FORWARDED_SINCE = Release(9, 1)
_FORWARDED = frozenset(
    {"ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum"}
)


class ReduceNoop(NodeDeviation):
    """A reduction over nothing becomes one over everything."""

    name: ClassVar[str] = "reduce-noop"
    op_types: ClassVar[frozenset[str]] = REDUCTIONS
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "rejected", "unknown")
    onnx: ClassVar[str] = "With noop_with_empty_axes=1 and no axes nothing is reduced."
    cann: ClassVar[str] = (
        "ReduceSum without an axes input is refused. Else a warning is logged and all axes "
        "are reduced; since 9.1 some reductions forward the attribute."
    )
    cure: ClassVar[str | None] = "reduce-noop"
    source: ClassVar[str] = (
        "canndev reduce_sum_plugin.cc 2022-06; ops-math reduce_*_onnx_plugin.cpp 8.5.0, "
        "9.0.0, 9.1.0"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "high")
    """Read at both ends: up to 6.0, and from 8.5 on."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look at the attribute and the axes."""
        if not node.attributes.get_int(NOOP, 0):
            return Harmless(f"{NOOP} is 0")
        axes = reads_axes(node)
        if axes is Axes.SOME:
            return Harmless("it has axes")
        if axes is Axes.ABSENT and node.op_type == "ReduceSum":
            return Found(f"{NOOP} is 1 and there is no axes input", "rejected")
        if conditions.profile.release >= _FORWARDED_SINCE and node.op_type in _FORWARDED:
            return Harmless(f"CANN {conditions.profile.version} forwards {NOOP}")
        if axes is Axes.UNKNOWN:
            return Found(f"{NOOP} is 1 and the axes are not known", "unknown")
        return Found(f"{NOOP} is 1 and not read: all axes are reduced", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Reduce all axes."""
        if isinstance(self.detect(node, conditions), Found):
            node.attributes.pop(NOOP)
