"""Conv that spells no attribute out: CANN refuses it.

The parser tells 1-D, 2-D and 3-D apart by kernel_shape, or by the lengths of pads,
strides and dilations, and fails where none of the four is there.

Sources: canndev `conv_plugin.cc`, 2021-11 to 2022-06; ops-nn master
`conv_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.windows import ints

if TYPE_CHECKING:
    import onnx_ir as ir


TELLING = ("kernel_shape", "pads", "strides", "dilations")


class ConvAttributes(NodeDeviation):
    """Nothing to tell the rank by."""

    name: ClassVar[str] = "conv-attributes"
    op_types: ClassVar[frozenset[str]] = frozenset({"Conv"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = "kernel_shape, pads, strides and dilations may all be left out."
    cann: ClassVar[str] = "The parser fails where none of the four is there."
    cure: ClassVar[str | None] = "conv-attributes"
    source: ClassVar[str] = (
        "canndev conv_plugin.cc 2021-11 to 2022-06; ops-nn master conv_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look for one of the four."""
        given = [name for name in TELLING if ints(node, name)]
        if given:
            return Harmless(f"it has {', '.join(given)}")
        return Found(f"it has none of {', '.join(TELLING)}", "rejected")
