"""Pow by 1, 2 or 3 that runs as exp(y ln |x|) in fp16 (`cann.pow_kernel`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.pow_kernel import SOURCE, put_in_place, why_not_in_half
from ascendflow.graph.powers import PRODUCTS, constant_power

if TYPE_CHECKING:
    import onnx_ir as ir


class PowSquare(NodeDeviation):
    """A Pow that could be a product or two; others are a `PowLogarithm`."""

    name: ClassVar[str] = "pow-square"
    op_types: ClassVar[frozenset[str]] = frozenset({"Pow"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = "Pow raises x to the power of y."
    cann: ClassVar[str] = (
        "On 310 it is exp(y ln |x|) with every step in fp16; a constant fp32 exponent 2 "
        "becomes Square before that."
    )
    cure: ClassVar[str | None] = "pow-to-mul"
    source: ClassVar[str] = SOURCE
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "low")
    """The kernel was read in two releases; its log and exp are taken to be rounded."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find a Pow of floats on 310 that no pass turns into Square."""
        harmless = why_not_in_half(node, conditions.soc)
        if harmless is not None:
            return Harmless(harmless)
        power = constant_power(node)
        shown = "y" if isinstance(power, str) else f"{power:g}"
        if not self.is_ours(power):
            return Harmless(f"the exponent {shown} has a deviation of its own")
        return Found(f"exp({shown} ln |x|), each step in fp16", "precision")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Spell the kernel out, each step rounded."""
        if isinstance(self.detect(node, conditions), Found):
            put_in_place(node)

    def is_ours(self, power: float | str) -> bool:
        """Return whether `cure` can do something about this exponent."""
        return power in PRODUCTS
