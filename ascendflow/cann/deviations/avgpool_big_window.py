"""AveragePool with more than 255 elements in a window, or a stride over 63.

Up to 6.0 the parser sends it to AI CPU: Transpose, PadV2 with 0, AvgPool "VALID",
Transpose. auto_pad, ceil_mode and count_include_pad get lost: padding counts always.

Master has no such path: AvgPoolV2 gets every attribute. When it went is not known. One of
its two AI Core kernels in 8.1 takes no such window, the other some; else AI CPU takes it.
Where nothing gets lost, all of them give the mean of the window.

Sources: canndev `average_pool_plugin.cc` (AvgGenAicpuOp), 2022-06; ops-nn master
`average_pool_onnx_plugin.cpp`; CANN 8.1.RC1 `avg_pool_v2.py`, `dynamic/avg_pool_v2.py`
(check_supported), `aicpu_kernel.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.big_pools import lost, spell_out
from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.big_windows import is_big
from ascendflow.graph.windows import counts_padding, read_window

if TYPE_CHECKING:
    import onnx_ir as ir


class AveragePoolBigWindow(NodeDeviation):
    """Attributes lost up to 6.0, and perhaps later."""

    name: ClassVar[str] = "avgpool-big-window"
    op_types: ClassVar[frozenset[str]] = frozenset({"AveragePool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "auto_pad, ceil_mode and count_include_pad hold for windows of any size."
    )
    cann: ClassVar[str] = (
        "Up to 6.0 a window of more than 255 elements or a stride over 63 loses all three; "
        "later it may."
    )
    cure: ClassVar[str | None] = "split-big-avgpool"
    source: ClassVar[str] = (
        "canndev average_pool_plugin.cc 2022-06; CANN 8.1.RC1 avg_pool_v2.py; "
        "ops-nn master average_pool_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for what the path loses, where there is one."""
        window = read_window(node)
        if window is None or not is_big(window):
            return Harmless("its window is not big")
        shape = f"window {list(window.kernel)}, strides {list(window.strides)}"
        losses = [loss for _, loss in lost(node, window)]
        if window.pads and not counts_padding(node):
            losses.append("count_include_pad 0")
        if losses and conditions.profile.is_read:
            return Found(f"{shape}: loses {', '.join(losses)}", "silent")
        if losses:
            return Found(
                f"{shape}: whether this CANN still has the path that loses "
                f"{', '.join(losses)} is not known",
                "unknown",
            )
        return Harmless("no attribute that gets lost changes anything")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Pad with 0, then divide by the whole window."""
        window = read_window(node)
        if window is not None and is_big(window) and conditions.profile.is_read:
            spell_out(node, window, 0.0)
