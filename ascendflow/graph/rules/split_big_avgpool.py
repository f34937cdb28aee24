"""AveragePool with a window of more than 255 elements, or a stride over 63 -> smaller ones.

Up to 6.0, and perhaps later, ATC sends such a window to AI CPU on a path that loses
ceil_mode, auto_pad and count_include_pad. A window's part of the input is a rectangle, and
so is its part of the padding, so the mean is the mean of the columns' means, whichever of
both is divided by. A single window without padding in its divisor is a GlobalAveragePool of
what it reaches.

Source: canndev `average_pool_plugin.cc`; CANN 8.1.RC1 `dynamic/avg_pool_v2.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.rules.split_big_pool_base import SplitBigPool
from ascendflow.graph.windows import counts_padding, lengths_of

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect
    from ascendflow.graph.windows import Window


class SplitBigAveragePool(SplitBigPool):
    """Take means of rows, then of columns; or the global mean."""

    name: ClassVar[str] = "split-big-avgpool"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"AveragePool"})
    effect: ClassVar[Effect] = "equivalent"
    global_op: ClassVar[str] = "GlobalAveragePool"

    def may_be_global(self, node: ir.Node, window: Window) -> bool:
        """It may where the divisor counts no padding."""
        if not counts_padding(node):
            return True
        lengths = lengths_of(node)
        return lengths is not None and not window.pads_for(lengths)
