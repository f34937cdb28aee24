"""TopK: its indices are int32, and so must k be.

1. The indices are int64 in ONNX, int32 in CANN. Where they meet an int64 tensor in an
   operator that wants equal types, ATC stops (E89999 on an Add, in a field report); where
   they are an output of the model, it is int32.
2. k is int32 in CANN. A constant is taken as it comes, as models in the field show; of a
   computed k nothing was read.

A Cast of the indices to int64, which changes nothing in ONNX, puts the type right in CANN.
k cannot be cast: ONNX's TopK takes int64 only.

Sources: canndev `topk_plugin.cc`, `selection_ops.h` (REG_OP(TopK)),
`elewise_calculation_ops.cc`; 8.1.RC1 `top_k_v2.py`; msit `knowledge_topk_fix.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.narrow_indices import of_indices
from ascendflow.graph.nodes import constant

if TYPE_CHECKING:
    import onnx_ir as ir


_K_IS_AN_INPUT_SINCE = 10


class TopKInt64(NodeDeviation):
    """Cases 1 and 2 of the module's text."""

    name: ClassVar[str] = "topk-int64"
    op_types: ClassVar[frozenset[str]] = frozenset({"TopK"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected", "unknown", "precision")
    onnx: ClassVar[str] = "k and the indices are int64."
    cann: ClassVar[str] = (
        "k and the indices are int32; indices that meet int64 in Add, Mul and the like are "
        "refused (E89999)."
    )
    cure: ClassVar[str | None] = "indices-to-int64"
    source: ClassVar[str] = (
        "canndev topk_plugin.cc, selection_ops.h, elewise_calculation_ops.cc; CANN 8.1.RC1 "
        "top_k_v2.py; msit knowledge_topk_fix.py"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look at k, and follow the indices."""
        since = node.version is None or node.version >= _K_IS_AN_INPUT_SINCE
        if since and constant(node.inputs[1]) is None:
            return Found("k is computed, in int64, and the kernel takes int32", "unknown")
        if len(node.outputs) < 2:
            return Harmless("its indices are not used")
        return of_indices(node.outputs[1])
