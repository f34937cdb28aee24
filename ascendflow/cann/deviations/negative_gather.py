"""Gather with constant negative indices, before 8.5.

GatherV2 documents that indices are in [0, length); counting from the end is an attribute,
negative_index_support, that is false by default and that canndev's plugin does not set.
ops-nn's plugin sets it, in 8.5.0 to master. Public recipes rewrite such Gathers by hand.

Of a computed index the sign is not known, so it is not named.

Sources: canndev `gather_plugin.cc`, `selection_ops.h` (REG_OP(GatherV2)); ops-nn 8.5.0 to
master `gather_onnx_plugin.cpp`; ModelZoo-PyTorch VilBert `fix_onnx.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.graph.nodes import constant

if TYPE_CHECKING:
    import onnx_ir as ir


class NegativeGather(NodeDeviation):
    """Indices that count from the end."""

    name: ClassVar[str] = "negative-gather"
    op_types: ClassVar[frozenset[str]] = frozenset({"Gather"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "A negative index counts from the end."
    cann: ClassVar[str] = (
        "GatherV2 wants indices from 0 on unless an attribute says otherwise, which the "
        "parser sets from 8.5 on only."
    )
    cure: ClassVar[str | None] = "gather-non-negative"
    source: ClassVar[str] = (
        "canndev gather_plugin.cc, selection_ops.h REG_OP(GatherV2); ops-nn 8.5.0 to "
        "master gather_onnx_plugin.cpp; ModelZoo-PyTorch VilBert fix_onnx.py"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "low", "low")
    """When between 6.0 and 8.5 the plugin changed is not known."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look at constant indices."""
        if conditions.profile.is_open:
            return Harmless("the parser asks for negative indices")
        indices = constant(node.inputs[1])
        if indices is None or not indices.size or indices.min() >= 0:
            return Harmless("no constant index is negative")
        return Found(f"index {indices.min()} counts from the end", "unknown")
