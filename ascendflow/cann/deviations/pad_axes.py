"""Pad with the input axes (opset 18): nobody reads it.

The plugin reads `mode` only, and PadV3 has three inputs: the data, the paddings of all
axes, the value. What comes of a fourth is not known.

Sources: canndev `pad_ops.h` (REG_OP(PadV3)); ops-math 8.5.0 to 9.1.0
`pad_onnx_plugin.cpp` (parse_params_pad_v11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.graph.nodes import input_at

if TYPE_CHECKING:
    import onnx_ir as ir


class PadAxes(NodeDeviation):
    """A fourth input."""

    name: ClassVar[str] = "pad-axes"
    op_types: ClassVar[frozenset[str]] = frozenset({"Pad"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "The input axes says which axes the pads are for."
    cann: ClassVar[str] = "PadV3 takes pads of all axes and has no such input."
    cure: ClassVar[str | None] = "pad-all-axes"
    source: ClassVar[str] = (
        "canndev pad_ops.h REG_OP(PadV3); ops-math 8.5.0 to 9.1.0 pad_onnx_plugin.cpp"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "high")
    """That it is not read is certain; what follows was not seen."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look for the input."""
        if input_at(node, 3) is not None:
            return Found("it has the input axes, which CANN's PadV3 has not", "unknown")
        return Harmless("its pads are those of all axes")
