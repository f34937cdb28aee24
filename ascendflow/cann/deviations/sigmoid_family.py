"""What the deviations of Sigmoid share: what is looked at, and how steps are spelled."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.profile import Release
from ascendflow.cann.steps import Steps

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.documents.conversion import Confidence


class SigmoidKernel(NodeDeviation):
    """A kernel of Sigmoid that does not compute as ONNX says.

    Attributes:
        sure: how sure it is of 8.1, whose source was read, and of other versions.
    """

    op_types: ClassVar[frozenset[str]] = frozenset({"Sigmoid"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = "Sigmoid is 1 / (1 + exp(-x))."
    cure: ClassVar[str | None] = None
    sure: ClassVar[tuple[Confidence, Confidence]]

    def confidence(self, conditions: Conditions) -> Confidence:
        """Read in source of 8.1, of which other versions may differ."""
        return self.sure[conditions.profile.release != Release(8, 1)]

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Spell the steps out, each rounded where the data is fp16."""
        if isinstance(self.detect(node, conditions), Harmless):
            return
        step = Steps(node, conditions.soc.overflow if conditions.half else None)
        x = node.inputs[0]
        assert x is not None  # noqa: S101, Sigmoid has one input
        self.spell(step, x, conditions)
        step.put_in_place()

    @abstractmethod
    def spell(self, step: Steps, x: ir.Value, conditions: Conditions) -> None:
        """Make the nodes that compute it of `x`; the last one gives the result."""


def quotient(step: Steps, exp: ir.Value) -> None:
    """Make 1 / (1 + exp), step by step."""
    step("Div", [step.number(1), step("Add", [exp, step.number(1)])])
