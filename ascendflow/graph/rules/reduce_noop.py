"""Reductions with noop_with_empty_axes=1 and no axes: what they do to one element.

CANN refuses or misreads the attribute. In ONNX nothing is added up then, and what is done
beside that is done to each element: sum, mean, max, min, product and the logarithm of the
sum of exponentials are what came in, the norms are |x|, and there are log(x) and x * x.
Of the logarithm onnxruntime may round the last bit otherwise.

Source: ONNX operator docs, ReduceSum-13 and ReduceLogSum-18; ops-math
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

_OF_ONE = {
    "ReduceL1": "Abs",
    "ReduceL2": "Abs",
    "ReduceLogSum": "Log",
    "ReduceSumSquare": "Mul",
}
"""What the others than Identity come to."""


class ReduceNoop(Rule):
    """Drop a reduction that reduces nothing."""

    name: ClassVar[str] = "reduce-noop"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = REDUCTIONS
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put Identity in the place of one reduction over nothing."""
        axes = reads_axes(node)
        if not node.attributes.get_int(NOOP, 0):
            yield Skipped(node, f"{NOOP} is 0: it does reduce")
        elif axes in {Axes.SOME, Axes.UNKNOWN}:
            yield Skipped(node, f"its axes are {axes.value}")
        else:
            before = {"op_type": node.op_type, NOOP: 1}
            op_type = _OF_ONE.get(node.op_type, "Identity")
            chain, x = Chain(node), node.inputs[0]
            chain(op_type, [x, x] if op_type == "Mul" else [x])
            chain.put_in_place()
            yield Applied(node, before, {"op_type": op_type})
