"""ReduceL1 -> ReduceSum of Abs; ReduceL2 -> Sqrt of ReduceSum of x * x.

The plugins of the two end at opset 17. ReduceSum reads its axes in every version;
ReduceSumSquare does not from opset 18 on.

Source: ONNX operator docs, ReduceL1-18, ReduceL2-18; ops-math 8.5.0 to master.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import why_not_float32
from ascendflow.graph.reductions import NOOP, Axes, reads_axes
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

_AXES_ARE_AN_INPUT_SINCE = 18


class ReduceNormDecompose(Rule):
    """Spell the two norms out."""

    name: ClassVar[str] = "reduce-norm-decompose"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"ReduceL1", "ReduceL2"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put two nodes in the node's place; axes and keepdims stay what they are."""
        if (reason := _why_not(node)) is not None:
            yield Skipped(node, reason)
            return
        x, *axes = node.inputs
        keepdims = {"keepdims": node.attributes.get_int("keepdims", 1)}
        chain = Chain(node)
        if node.op_type == "ReduceL1":
            names = ["Abs", "ReduceSum"]
            chain("ReduceSum", [chain("Abs", [x]), *axes], keepdims)
        else:
            names = ["Mul", "ReduceSum", "Sqrt"]
            total = chain("ReduceSum", [chain("Mul", [x, x]), *axes], keepdims)
            chain("Sqrt", [total])
        chain.put_in_place()
        yield Applied(node, before={"op_type": node.op_type}, after={"nodes": names})


def _why_not(node: ir.Node) -> str | None:
    if (node.version or 0) < _AXES_ARE_AN_INPUT_SINCE:
        return f"opset {node.version}: CANN has a parser for it"
    if node.attributes.get_int(NOOP, 0) and reads_axes(node) is not Axes.SOME:
        return f"{NOOP} is 1, and it may have no axes"
    return why_not_float32(
        node.inputs[0]
    )  # integers have no Sqrt, float16 rounds each step
