"""GRU with direction `reverse`: run forward.

Of a bidirectional GRU the pass makes two DynamicGRUV2 and sets the direction of each. Of a
GRU with one direction it makes one and sets none, so the default holds: forward.

Source: canndev `gru_fusion_pass.cc`, `rnn.h`, 2022-06. The pass is closed after 6.0.
"""

from __future__ import annotations

from typing import ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation

_ATTRIBUTE = "direction"


class GruReverse(NodeDeviation):
    """A lone reverse GRU reads its sequence from the front."""

    name: ClassVar[str] = "gru-reverse"
    op_types: ClassVar[frozenset[str]] = frozenset({"GRU"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent",)
    onnx: ClassVar[str] = "direction reverse reads the sequence from its end."
    cann: ClassVar[str] = (
        "Only bidirectional is acted upon; a lone reverse GRU reads from the front."
    )
    cure: ClassVar[str | None] = "gru-unrolled"
    source: ClassVar[str] = "canndev gru_fusion_pass.cc, rnn.h 2022-06"
    confidences: ClassVar[Confidences] = Confidences("high", "low", "low")
    """The pass was read up to 6.0; nothing says that it changed, or did not."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look at direction."""
        direction = node.attributes.get_string(_ATTRIBUTE, "forward")
        if direction != "reverse":
            return Harmless(f"direction {direction!r} is acted upon")
        return Found("direction 'reverse' is run forward", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Run it forward."""
        if isinstance(self.detect(node, conditions), Found):
            node.attributes.add(ir.AttrString(_ATTRIBUTE, "forward"))
