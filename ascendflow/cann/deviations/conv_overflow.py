"""Matrix products that can leave fp16's range.

Sums are fp32 inside; the result is rounded to fp16 once, at the output. Whether it leaves
the range depends on the data, of which a graph says little. Two things can be said of
constant weights W:

* The input has a bound B (it comes from Sigmoid, Softmax, Clip, ...): no |y| exceeds
  B * max sum |W| + max |b|, and some input reaches B * max sum |W|. Where that is beyond
  65504 the output can overflow, and nowhere else.
* Otherwise it is only a hint: an input of 65504 / max sum |W| everywhere is enough. Said
  where 64 is.

Sources: 8.1.RC1 `conv_compute.py`, `platform_config/*.ini` (Intrinsic_mmad).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.constants import readable
from ascendflow.graph.matrices import MATRIX_PRODUCTS, bound, largest_sum
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.documents.conversion import Confidence

_SMALL_INPUT = 64.0
"""Inputs of this size are nothing special, so weights that they overflow with are."""


class ConvOverflow(NodeDeviation):
    """A product with constant weights whose result fp16 may not hold."""

    name: ClassVar[str] = "conv-overflow"
    op_types: ClassVar[frozenset[str]] = MATRIX_PRODUCTS
    is_emulated: ClassVar[bool] = False
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = "Sums of products are fp32 numbers, up to 3.4e38."
    cann: ClassVar[str] = (
        "In fp16 the result is stored as fp16: beyond +-65504 it saturates, or is infinite "
        "on 910B and 910_93."
    )
    cure: ClassVar[str | None] = "scale-conv"
    source: ClassVar[str] = "CANN 8.1.RC1 conv_compute.py, platform_config Intrinsic_mmad"

    def confidence(self, conditions: Conditions) -> Confidence:
        """How the SoC overflows is sourced; whether the data gets there is not known."""
        return conditions.soc.overflow_confidence

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Hold the weights against the input's bound, or against a small input."""
        if not conditions.half:
            return Harmless("the kernel gets fp32")
        weights = readable(node.inputs[1], any_size=conditions.all_weights)
        if weights is None or not weights.size:
            return Harmless("its weights are not constant, or were not read")
        total = largest_sum(node, weights.astype(np.float32, copy=False))
        limit = bound(node.inputs[0])
        if limit is None:
            if total * _SMALL_INPUT <= HALF_MAX:
                return Harmless(f"sums of |weights| end at {total:.4g}: no hint")
            return Found(
                f"a hint, no proof: sums of |weights| reach {total:.4g}, so inputs of "
                f"{HALF_MAX / total:.3g} can overflow",
                "precision",
            )
        reached = limit * total
        if reached <= HALF_MAX:
            return Harmless(f"|inputs| end at {limit:g}, so |outputs| at {reached:.4g}")
        return Found(
            f"|inputs| reach {limit:g} and sums of |weights| {total:.4g}, so |outputs| can "
            f"reach {reached:.4g}",
            "precision",
        )
