"""Reductions with noop_with_empty_axes=1 and no axes: Identity.

CANN refuses or misreads the attribute. Sum, mean, max, min and product of nothing are what
came in. The others are left alone: onnxruntime gives |x| for ReduceL1 and ReduceL2, x * x
for ReduceSumSquare and log(x) for ReduceLogSum, which ONNX's text of opset 18 does not say.

Source: ONNX operator docs, ReduceSum-13 and ReduceMax-18; ops-math
`reduce_*_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.edit import Chain
from ascendflow.graph.reductions import NOOP, REDUCTIONS, Axes, reads_axes
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

_KEEPS_ONE = frozenset({"ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"})
"""Reductions of which a single element comes out as it went in."""


class ReduceNoop(Rule):
    """Drop a reduction that reduces nothing."""

    name: ClassVar[str] = "reduce-noop"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = REDUCTIONS
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put Identity in the place of one reduction over nothing."""
        axes = reads_axes(node)
        if not node.attributes.get_int(NOOP, 0):
            yield Skipped(node, f"{NOOP} is 0: it does reduce")
        elif axes in {Axes.SOME, Axes.UNKNOWN}:
            yield Skipped(node, f"its axes are {axes.value}")
        elif node.op_type not in _KEEPS_ONE:
            yield Skipped(node, f"{node.op_type} of a single element is not the element")
        else:
            before = {"op_type": node.op_type, NOOP: 1}
            chain = Chain(node)
            chain("Identity", [node.inputs[0]])
            chain.put_in_place()
            yield Applied(node, before, {"op_type": "Identity"})
