"""GridSample without mode or padding_mode: passed on as empty strings.

The parser copies what the node has and knows no defaults, so an absent attribute reaches
GridSampler2D as "". What its kernels make of that was not read. Up to 6.0 there is no
parser for GridSample at all.

Source: ops-cv `grid_sample_onnx_plugin.cpp`, 9.1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation

if TYPE_CHECKING:
    import onnx_ir as ir


class GridSampleAttr(NodeDeviation):
    """Defaults that are not filled in."""

    name: ClassVar[str] = "gridsample-attr"
    op_types: ClassVar[frozenset[str]] = frozenset({"GridSample"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "mode is bilinear and padding_mode zeros where they are absent."
    cann: ClassVar[str] = "Absent attributes are passed on as empty strings."
    cure: ClassVar[str | None] = "gridsample-attributes"
    source: ClassVar[str] = "ops-cv grid_sample_onnx_plugin.cpp 9.1.0"
    confidences: ClassVar[Confidences] = Confidences("low", "low", "high")
    """Read in the open release; carried back to the versions before it."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for absent attributes."""
        if conditions.profile.is_read:
            return Harmless("CANN up to 6.0 has no parser for GridSample, whatever it has")
        absent = [name for name in ("mode", "padding_mode") if name not in node.attributes]
        if not absent:
            return Harmless("mode and padding_mode are there")
        return Found(
            f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} absent, and "
            "reach the kernel as empty strings",
            "unknown",
        )
