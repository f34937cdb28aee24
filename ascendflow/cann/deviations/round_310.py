"""Round of fp32 on Ascend310: through fp16.

The SoC has no fp32 rounding, so the kernel casts to fp16, rounds half to even as ONNX does,
and casts back: beyond 2048 whole numbers are lost, and fractions earlier.

Source: canndev `dynamic/round.py`, 2022-06; 8.1.RC1 `round.py`, `Ascend310.ini`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.rounding import stored
from ascendflow.graph.edit import Chain

if TYPE_CHECKING:
    import onnx_ir as ir


class Round310(NodeDeviation):
    """fp16 inside an fp32 operator."""

    name: ClassVar[str] = "round-310"
    op_types: ClassVar[frozenset[str]] = frozenset({"Round"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = "fp32 is rounded to the nearest whole number, ties to even."
    cann: ClassVar[str] = "On Ascend310 fp32 is first rounded to fp16."
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "canndev dynamic/round.py 2022-06; CANN 8.1.RC1 round.py, Ascend310.ini"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "high", "high")
    """The kernel was read, and the SoC's list of instructions."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Find fp32 on Ascend310."""
        if conditions.soc.fp32_functions:
            return Harmless(f"{conditions.soc.family} rounds fp32")
        if conditions.half:
            return Harmless("its data is fp16 already")
        return Found(
            f"fp32 is rounded to fp16 first on {conditions.soc.family}", "precision"
        )

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Round to fp16, saturating, then to a whole number."""
        if isinstance(self.detect(node, conditions), Harmless):
            return
        chain, x = Chain(node), node.inputs[0]
        assert x is not None  # noqa: S101, Round has one input
        chain("Round", [stored(chain, x, "saturate")])
        chain.put_in_place()
