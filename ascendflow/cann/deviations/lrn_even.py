"""LRN with an even size: refused up to 6.0, one channel short from 8.5 on.

ONNX's window reaches (size - 1) / 2 channels, rounded down to one side and up to the
other. CANN's reaches depth_radius to both sides. Up to 6.0 the parser fails on even sizes;
from 8.5 on it takes (size - 1) / 2 rounded down, so the window has size - 1 channels,
while alpha is still divided by size. A size of 0 fails in both, and means nothing in ONNX.

Sources: canndev `lrn_plugin.cc`, 2022-06; ops-nn 8.5.0 to 9.1.0 `lrn_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation


class LrnEven(NodeDeviation):
    """A window that has no middle."""

    name: ClassVar[str] = "lrn-even"
    op_types: ClassVar[frozenset[str]] = frozenset({"LRN"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected", "silent")
    onnx: ClassVar[str] = (
        "A window of an even size reaches one channel further up than down."
    )
    cann: ClassVar[str] = (
        "Up to 6.0 an even size is refused; from 8.5 on the window has size - 1 channels."
    )
    cure: ClassVar[str | None] = "lrn-even-size"
    source: ClassVar[str] = (
        "canndev lrn_plugin.cc 2022-06; ops-nn 8.5.0 to 9.1.0 lrn_onnx_plugin.cpp"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "high")
    """Read in source up to 6.0 and from 8.5 on; carried on between."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for an even size."""
        size = node.attributes.get_int("size", 0)
        if size == 0:
            return Found("its size is 0, which every parser refuses", "rejected")
        if size < 0 or size % 2 == 1:
            return Harmless(f"its size is {size}")
        if conditions.profile.is_open:
            return Found(f"size {size} becomes a window of {size - 1} channels", "silent")
        return Found(f"its size is {size}, which must be odd", "rejected")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Take size - 1, with alpha / size as it was."""
        size = node.attributes.get_int("size", 0)
        if size > 0 and size % 2 == 0:
            alpha = node.attributes.get_float("alpha", 1e-4) * (size - 1) / size
            node.attributes["size"] = ir.AttrInt64("size", size - 1)
            node.attributes["alpha"] = ir.AttrFloat32("alpha", alpha)
