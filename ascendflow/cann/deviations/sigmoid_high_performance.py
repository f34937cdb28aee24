"""Sigmoid's high_performance implementation.

On 310P it is a polynomial,

    y = max(0, min(1, x (a + x^2 (b + c x^2)) + 1/2))

with a = 0.229270815, b = -0.0102459298, c = 0.00020769753, in the type of the data: with
fp16 data every constant and every step is an fp16 number. On 910B and 910_93 fp16 data
stays fp16 through 1 / (1 + exp(-x)), where high_precision computes in fp32.

By default Sigmoid is high_precision; op_select_implmode=high_performance_for_all, or
high_performance together with optypelist_for_implmode, selects the other. On the other
SoCs the kernel looks at neither. Tanh has two implementations on 910B and 910_93, which
both compute in fp32; they are taken to be equal.

Sources: 8.1.RC1 `dynamic/sigmoid.py` (sigmoid_high_performance_compute, sigmoid_compute),
`dynamic/tanh.py`, `impl_mode/*.ini`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Detection, Found, Harmless
from ascendflow.cann.deviations.sigmoid_family import SigmoidKernel, quotient

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.cann.deviations.deviation import Conditions
    from ascendflow.cann.steps import Steps
    from ascendflow.documents.conversion import Confidence

_A, _B, _C = 0.229270815, -0.0102459298, 0.000207697530
_STEPWISE = frozenset({"ascend910b", "ascend910_93"})


class SigmoidHighPerformance(SigmoidKernel):
    """Sigmoid as a polynomial, or with every step in fp16."""

    name: ClassVar[str] = "sigmoid-high-performance"
    cann: ClassVar[str] = (
        "Where op_select_implmode selects high_performance, it is a clipped polynomial of "
        "degree 5 on 310P, and computed in fp16 step by step on 910B and 910_93."
    )
    sure: ClassVar[tuple[Confidence, Confidence]] = ("high", "medium")
    source: ClassVar[str] = "CANN 8.1.RC1 dynamic/sigmoid.py, impl_mode/*.ini"

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Find what the settings select; every node is alike."""
        if conditions.settings.implementation("Sigmoid") != "high_performance":
            return Harmless("Sigmoid is high_precision")
        mode = conditions.settings.implmode
        if conditions.soc.family == "ascend310p":
            return Found(f"op_select_implmode {mode!r} makes it a polynomial", "precision")
        if conditions.soc.family in _STEPWISE and conditions.half:
            return Found(f"op_select_implmode {mode!r} makes its steps fp16", "precision")
        return Harmless("this kernel has one implementation for these data")

    def spell(self, step: Steps, x: ir.Value, conditions: Conditions) -> None:
        """Take the family's way."""
        if conditions.soc.family in _STEPWISE:
            quotient(step, step("Exp", [step.exact("Neg", [x])]))
        else:
            _polynomial(step, x)


def _polynomial(step: Steps, x: ir.Value) -> None:
    square = step("Mul", [x, x])
    y = step("Add", [step("Mul", [square, step.number(_C)]), step.number(_B)])
    y = step("Add", [step("Mul", [square, y]), step.number(_A)])
    y = step("Add", [step("Mul", [x, y]), step.number(0.5)])
    y = step.exact("Min", [y, step.number(1)])
    step.exact("Max", [y, step.number(0)])
