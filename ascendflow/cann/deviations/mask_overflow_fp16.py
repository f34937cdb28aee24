"""Masks before Softmax, -1e9 or -3.4e38, in kernels that run in fp16.

The mask becomes -65504 or -inf (`const-overflow-fp16` says where). Most rows do not mind:
exp of either is 0. What goes wrong is 0 * inf in (1 - mask) * 1e9, a row of which nothing
is left but -inf, and sums of two masks; on 910B all of these give NaN.

Source: as for const-overflow-fp16; ModelZoo-PyTorch recipes that replace such constants:
Conformer `graph_fusion`, roberta `opt_onnx`, Bert_Base_Chinese and VilBert `fix_onnx`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.const_overflow_fp16 import ConstOverflow, overflow
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.masks import MASKING, feeds_softmax

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.documents.conversion import Confidence


class MaskOverflow(NodeDeviation):
    """A constant beyond +-65504 that only masks scores of a Softmax."""

    name: ClassVar[str] = "mask-overflow-fp16"
    op_types: ClassVar[frozenset[str]] = MASKING
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "precision")
    onnx: ClassVar[str] = "A mask of -1e9 or -3.4e38 is a finite fp32 number."
    cann: ClassVar[str] = (
        "In fp16 it is -65504, which masks all the same (`precision`), or, before 8.5 on "
        "910B and 910_93, -inf (`silent`): 0 * inf and a row of nothing but -inf give NaN."
    )
    cure: ClassVar[str | None] = "clamp-mask"
    source: ClassVar[str] = (
        "GE constant_clip_pass.cc 8.5.0 to master; ModelZoo-PyTorch graph_fusion, "
        "opt_onnx, fix_onnx"
    )

    def confidence(self, conditions: Conditions) -> Confidence:
        """As sure as for any constant."""
        return ConstOverflow().confidence(conditions)

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find a mask's constant that leaves fp16's range."""
        found = overflow(node, conditions)
        if isinstance(found, Found) and not feeds_softmax(node):
            return Harmless("it is no mask before Softmax: see const-overflow-fp16")
        return found
