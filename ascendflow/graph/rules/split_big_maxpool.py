"""MaxPool with a window of more than 255 elements, or a stride over 63 -> smaller ones.

ATC sends such a window to AI CPU on a path that loses ceil_mode and auto_pad, and pads
with -65504. The maximum of a rectangle is the maximum of its columns' maxima, so one pool
of each axis gives the same values; a single window is a GlobalMaxPool of what it reaches.

Source: canndev `max_pool_plugin.cc`; ops-nn master `max_pool_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.rules.split_big_pool_base import SplitBigPool

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect
    from ascendflow.graph.windows import Window


class SplitBigMaxPool(SplitBigPool):
    """Pool rows, then columns; or globally."""

    name: ClassVar[str] = "split-big-maxpool"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"MaxPool"})
    effect: ClassVar[Effect] = "exact"
    global_op: ClassVar[str] = "GlobalMaxPool"

    def may_be_global(self, node: ir.Node, window: Window) -> bool:  # noqa: ARG002
        """Padding never wins, so it always may."""
        return True
