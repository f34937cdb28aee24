"""MaxPool with more than 255 elements in a window, or a stride over 63: other padding.

The parser sends such a pool to AI CPU: Transpose, PadV2 with -65504, MaxPool "VALID",
Transpose. auto_pad and ceil_mode get lost, and elements below -65504 lose to the padding.
Master makes an exception of SoCs later than those that are modelled here.

Sources: canndev `max_pool_plugin.cc` (GenAicpuOp), 2022-06; ops-nn master
`max_pool_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.big_pools import lost, spell_out
from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.big_windows import is_big
from ascendflow.graph.windows import read_window
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    import onnx_ir as ir


class MaxPoolBigWindow(NodeDeviation):
    """auto_pad and ceil_mode lost, and padding of -65504."""

    name: ClassVar[str] = "maxpool-big-window"
    op_types: ClassVar[frozenset[str]] = frozenset({"MaxPool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "precision")
    onnx: ClassVar[str] = "auto_pad and ceil_mode hold for windows and strides of any size."
    cann: ClassVar[str] = (
        "A window of more than 255 elements or a stride over 63 loses auto_pad and "
        "ceil_mode; its padding is -65504."
    )
    cure: ClassVar[str | None] = "split-big-maxpool"
    source: ClassVar[str] = (
        "canndev max_pool_plugin.cc 2022-06; ops-nn master max_pool_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for what the path loses."""
        window = read_window(node)
        if window is None or not is_big(window):
            return Harmless("its window is not big")
        losses = ", ".join(loss for _, loss in lost(node, window))
        if losses:
            return Found(f"window {list(window.kernel)} loses {losses}", "silent")
        if window.pads and not conditions.half:
            return Found(
                f"pads {window.pads.spelled} are -65504, so elements below that lose",
                "precision",
            )
        return Harmless("no auto_pad, ceil_mode or padding that changes anything")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Pad with -65504, then pool."""
        window = read_window(node)
        if window is not None and is_big(window):
            spell_out(node, window, -HALF_MAX)
