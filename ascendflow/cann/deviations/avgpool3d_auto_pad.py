"""AveragePool of volumes with auto_pad: CANN reads `pads` only.

AvgPool3D is made with the attribute `pads`, which auto_pad leaves at 0.

Sources: canndev `average_pool_plugin.cc`, 2022-06; ops-nn master
`average_pool_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.windows import VOLUME, lengths_of, read_window

if TYPE_CHECKING:
    import onnx_ir as ir


class AveragePool3dAutoPad(NodeDeviation):
    """No padding where SAME is asked for."""

    name: ClassVar[str] = "avgpool3d-auto-pad"
    op_types: ClassVar[frozenset[str]] = frozenset({"AveragePool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent",)
    onnx: ClassVar[str] = (
        "auto_pad SAME_UPPER and SAME_LOWER pad volumes as they do pictures."
    )
    cann: ClassVar[str] = "auto_pad of 3-D average pools is not read: nothing is padded."
    cure: ClassVar[str | None] = "auto-pad-to-pads"
    source: ClassVar[str] = (
        "canndev average_pool_plugin.cc 2022-06; ops-nn master average_pool_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look for padding that auto_pad stands for."""
        window = read_window(node)
        if window is None or window.rank != VOLUME or not window.is_same:
            return Harmless("no 3-D pool with auto_pad SAME")
        lengths = lengths_of(node)
        if lengths is None:
            return Found(f"auto_pad {window.auto_pad} is not read", "silent")
        pads = window.pads_for(lengths)
        if not pads:
            return Harmless("auto_pad pads nothing here")
        return Found(
            f"auto_pad {window.auto_pad}, pads {pads.spelled}, is not read", "silent"
        )

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Drop auto_pad."""
        window = read_window(node)
        if window is not None and window.rank == VOLUME:
            node.attributes.pop("auto_pad", None)
