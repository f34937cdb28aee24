"""Sigmoid on 310, 310B and 910A: 1 / (1 + exp(-x)) with every step in fp16.

By default, high_precision, fp16 data is widened to fp32 first on 310P, 910B and 910_93
only. Elsewhere exp, sum and quotient are each rounded to fp16; 910A takes no x below
-11.089, so that exp stays finite. Of fp32 data exp alone is fp16, and on 310 only, whose
vector unit has no other. 310 and 310B take the reciprocal by an instruction with a Newton
step, which is taken to round as a division does.

What is not computed: where a Sigmoid is fused with a convolution or a product before it,
which a source does not tell of a graph, the other three do not widen either.

Source: 8.1.RC1 `dynamic/sigmoid.py` (sigmoid_compute), `platform_config/*.ini`.
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

_STEPWISE = frozenset({"ascend310", "ascend310b", "ascend910a"})
_LOWEST = -11.089
"""-log(65504), cut to three digits."""


class SigmoidFp16Steps(SigmoidKernel):
    """Three roundings instead of one, and never less than 1 / 65504."""

    name: ClassVar[str] = "sigmoid-fp16-steps"
    cann: ClassVar[str] = (
        "On 310, 310B and 910A each step of fp16 data is rounded to fp16, so that nothing "
        "comes out below 1 / 65504; on 310 exp is fp16 for fp32 data too."
    )
    sure: ClassVar[tuple[Confidence, Confidence]] = ("medium", "low")
    source: ClassVar[str] = "CANN 8.1.RC1 dynamic/sigmoid.py, platform_config/*.ini"

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look at the SoC and the data's type; every node is alike."""
        family = conditions.soc.family
        if conditions.half and family in _STEPWISE:
            return Found("exp, sum and quotient are each rounded to fp16", "precision")
        if family == "ascend310":
            return Found("exp is fp16", "precision")
        return Harmless("its steps are fp32")

    def spell(self, step: Steps, x: ir.Value, conditions: Conditions) -> None:
        """Round exp as the family does, then sum and quotient."""
        if conditions.soc.family == "ascend910a":
            x = step.exact("Max", [x, step.number(_LOWEST)])
        minus = step.exact("Neg", [x])
        quotient(step, step.exp(minus) if conditions.half else step.half_exp(minus))
