"""MaxPool with dilations: CANN closes the window's gaps up.

The parser reads `dilations`, and gives them to MaxPool3D only; MaxPoolV3 has no such
attribute. Whether the 3-D kernel heeds them was not read. Padding that is as long as the
closed window, as dilated windows often have, is beyond what was read of MaxPoolV3 too.

Sources: canndev `max_pool_plugin.cc`, 2022-06; ops-nn master `max_pool_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.windows import VOLUME, read_window

if TYPE_CHECKING:
    import onnx_ir as ir


class MaxPoolDilation(NodeDeviation):
    """A window without its gaps."""

    name: ClassVar[str] = "maxpool-dilation"
    op_types: ClassVar[frozenset[str]] = frozenset({"MaxPool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = "dilations says how far the elements of a window lie apart."
    cann: ClassVar[str] = "dilations of 1-D and 2-D windows are dropped."
    cure: ClassVar[str | None] = "dilated-maxpool"
    source: ClassVar[str] = (
        "canndev max_pool_plugin.cc 2022-06; ops-nn master max_pool_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look for a window with gaps."""
        window = read_window(node)
        if window is None or not window.is_dilated:
            return Harmless("its window has no gaps")
        if window.rank == VOLUME:
            return Found(
                f"whether CANN's 3-D kernel heeds dilations {list(window.dilations)} was "
                "not read",
                "unknown",
            )
        pads = window.pads.heads + window.pads.tails
        if any(pad >= k for pad, k in zip(pads, window.kernel * 2, strict=True)):
            return Found(
                f"dilations {list(window.dilations)} are dropped, which leaves pads "
                f"{list(pads)} around a window of {list(window.kernel)}",
                "unknown",
            )
        return Found(f"dilations {list(window.dilations)} are dropped", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Drop them."""
        node.attributes.pop("dilations", None)
