"""MaxPool with ceil_mode whose last window begins in the padding: not known up to 8.4.

ONNX leaves that window out. Shape inference of MaxPoolV3 counts it in canndev, while its
tiling does so in some cases only; from 8.5 on it is left out. What it would give was not
followed.

Sources: canndev `nn_pooling_ops.cc` (CALCULATEUpdateDimAndRange), `op_tiling/max_pool.cc`,
2022-06; ops-nn 8.5.0 to master `max_pool_v3_infershape.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann import ceil_mode
from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.big_windows import is_big
from ascendflow.graph.windows import VOLUME, lengths_of, read_window

if TYPE_CHECKING:
    import onnx_ir as ir


class MaxPoolCeilWindow(NodeDeviation):
    """A window that reads padding alone."""

    name: ClassVar[str] = "maxpool-ceil-window"
    op_types: ClassVar[frozenset[str]] = frozenset({"MaxPool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "ceil_mode adds no window that begins in the padding."
    cann: ClassVar[str] = "Up to 8.4 the output may be one longer; from 8.5 on it is not."
    cure: ClassVar[str | None] = "ceil-mode-to-pads"
    source: ClassVar[str] = (
        "canndev nn_pooling_ops.cc, op_tiling/max_pool.cc 2022-06; ops-nn 8.5.0 to master "
        "max_pool_v3_infershape.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Count the windows."""
        window = read_window(node)
        if (
            conditions.profile.is_open
            or window is None
            or not window.ceil
            or window.is_same
            or window.rank == VOLUME
            or is_big(window)
        ):
            return Harmless("no ceil_mode that could add a window")
        closed = window.closed
        lengths = lengths_of(node)
        if lengths is None:
            if ceil_mode.may_begin_in_padding(closed):
                return Found("ceil_mode of an input whose lengths are not fixed", "unknown")
            return Harmless("no window can begin in the padding")
        here, there = ceil_mode.outputs(closed, lengths), closed.outputs_for(lengths)
        if here == there:
            return Harmless("no window begins in the padding")
        return Found(f"ceil_mode gives {list(here)} or {list(there)} outputs", "unknown")
