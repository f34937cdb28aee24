"""Epsilons that fp16 rounds to 0: those up to 2^-25, so 1e-8 and 1e-12, but not 1e-7.

What they guard then divides by 0, or takes the reciprocal or the logarithm of it: NaN and
inf on 910B and 910_93, +-65504 and 0 elsewhere. Only epsilons in the graph are looked at:
the attribute of a normalisation reaches its kernel as fp32, and a layer norm that the
parser fuses keeps its epsilon the same way.

Sources: GE `op_dtype_selection_strategy_force_fp16.cc`, by which constants are cast as
the kernel's other data is; IEEE 754 rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.graph.constants import float_constants, readable
from ascendflow.graph.epsilons import GUARDING, epsilon_inputs, guards
from ascendflow.graph.fp16 import lost

if TYPE_CHECKING:
    import onnx_ir as ir


class EpsUnderflow(NodeDeviation):
    """An epsilon that is 0 in the kernel."""

    name: ClassVar[str] = "eps-underflow-fp16"
    op_types: ClassVar[frozenset[str]] = GUARDING
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = "An epsilon of 1e-12 is an fp32 number, and not 0."
    cann: ClassVar[str] = (
        "Where the kernel runs in fp16 an epsilon up to 2^-25, 2.98e-8, is 0, and guards "
        "nothing."
    )
    cure: ClassVar[str | None] = "raise-epsilon"
    source: ClassVar[str] = (
        "GE op_dtype_selection_strategy_force_fp16.cc; AscendC Cast documentation "
        "(rounding to nearest, fp16 subnormals)"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "high", "high")
    """Rounding is IEEE's; whether a pass fuses the node first is not looked at."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find a constant above 0 that fp16 loses, before what it guards."""
        if not conditions.half:
            return Harmless("the kernel gets fp32")
        for index, value in float_constants(node):
            if index not in epsilon_inputs(node):
                continue
            array = readable(value, any_size=conditions.all_weights)
            if array is None or not (are_lost := lost(array)).any():
                continue
            epsilon = float(array[are_lost].max())
            guarded = guards(node)
            if guarded is None:
                return Harmless("no division, root or logarithm follows")
            return Found(
                f"epsilon {epsilon:g} ({value.name!r}) is 0 in fp16, before {guarded}",
                "precision",
            )
        return Harmless("no constant that fp16 loses")
