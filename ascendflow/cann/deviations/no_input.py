"""A model without inputs, or without outputs.

The parser refuses a root graph whose list of inputs, or of outputs, is empty (E16001).
An initializer that is listed as an input counts as one.

Source: GE `onnx_parser.cc` (ParseInput, ParseOutput).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Found
from ascendflow.cann.deviations.deviation import Conditions, Confidences, ModelDeviation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir


class NoInput(ModelDeviation):
    """A constant model."""

    name: ClassVar[str] = "no-input"
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = "A graph may have no input; it then computes a constant."
    cann: ClassVar[str] = "A graph without inputs or without outputs is refused (E16001)."
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = "GE onnx_parser.cc ParseInput, ParseOutput"
    confidences: ClassVar[Confidences] = Confidences("high", "high", "high")
    """Read in the parser itself."""

    def detect(
        self, model: ir.Model, conditions: Conditions
    ) -> Iterator[tuple[ir.Node | None, Found]]:
        """Look at the two lists."""
        del conditions  # the same everywhere
        lists = {"input": model.graph.inputs, "output": model.graph.outputs}
        for kind, values in lists.items():
            if not values:
                yield None, Found(f"the graph has no {kind}", "rejected")
