"""ArgMax and ArgMin with select_last_index=1: a parse error.

Sources: canndev `argmin_plugin.cc`, `argmax_plugin.cc`; ops-math 8.5.0 to 9.1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation

if TYPE_CHECKING:
    import onnx_ir as ir


class ArgLastIndex(NodeDeviation):
    """The last of several equal extremes is asked for."""

    name: ClassVar[str] = "arg-last-index"
    op_types: ClassVar[frozenset[str]] = frozenset({"ArgMax", "ArgMin"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = "select_last_index=1 gives the last of several equal extremes."
    cann: ClassVar[str] = "The parser refuses select_last_index=1, in every version read."
    cure: ClassVar[str | None] = "arg-last-index"
    source: ClassVar[str] = (
        "canndev argmin_plugin.cc, argmax_plugin.cc; ops-math 8.5.0 to 9.1.0 "
        "argmax_onnx_plugin.cpp"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "high", "high")
    """Read at both ends."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Read the attribute."""
        if node.attributes.get_int("select_last_index", 0):
            return Found("select_last_index is 1", "rejected")
        return Harmless("the first of several equal extremes is asked for")
