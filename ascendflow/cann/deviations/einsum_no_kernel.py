"""Einsum: no AI Core has a kernel for it.

EinsumPass makes Transpose, Reshape and a batched MatMul of equations with an arrow and at
most two operands; in its source shapes that are not all known take another way, for
fourteen equations. Whatever it leaves goes to AI CPU. In fp16 an Einsum was reported to
lose accuracy that keep_dtype could not give back, and that the same product spelled as
MatMul did not lose.

Sources: canndev `einsum_plugin.cc`, `einsum_fusion_pass.cc`, `aicpu_kernel.ini`; 8.1.RC1
`aic-*-ops-info.json`; ModelZoo-PyTorch T2T-ViT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation

if TYPE_CHECKING:
    import onnx_ir as ir

_MOST_OPERANDS = 2


class EinsumNoKernel(NodeDeviation):
    """An Einsum in fp16."""

    name: ClassVar[str] = "einsum-no-kernel"
    op_types: ClassVar[frozenset[str]] = frozenset({"Einsum"})
    is_emulated: ClassVar[bool] = False
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = (
        "Einsum sums products, in the type of its operands or a wider one."
    )
    cann: ClassVar[str] = (
        "AI Core has no Einsum: a pass makes a batched MatMul of equations with an arrow "
        "and at most two operands, others go to AI CPU."
    )
    cure: ClassVar[str | None] = "einsum-matmul"
    source: ClassVar[str] = (
        "canndev einsum_fusion_pass.cc, aicpu_kernel.ini; CANN 8.1.RC1 "
        "aic-*-ops-info.json; ModelZoo-PyTorch T2T-ViT"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "low", "low")
    """That there is no kernel was read; the loss of accuracy is a report."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Say where an Einsum in fp16 goes."""
        if not conditions.half:
            return Harmless("its operands are fp32")
        equation = node.attributes.get_string("equation", "")
        if "->" in equation and len(node.inputs) <= _MOST_OPERANDS:
            return Found(
                f"{equation!r} has no kernel; a pass may make a MatMul of it, and accuracy "
                "was reported lost in fp16",
                "precision",
            )
        return Found(f"{equation!r} has no kernel, and no pass takes it", "precision")
