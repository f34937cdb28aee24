"""Pools with auto_pad SAME_LOWER: CANN pads as for SAME_UPPER.

The parser maps both spellings to "SAME", which puts the odd element of the padding behind
the input. Where every axis is padded by an even number there is no difference. The open
plugin for AveragePool says so in a warning that ATC does not print; the others say nothing.

Sources: canndev `max_pool_plugin.cc`, `average_pool_plugin.cc`, `lppool_plugin.cc`,
2022-06; ops-nn master `max_pool_onnx_plugin.cpp`, `average_pool_onnx_plugin.cpp`,
`lppool_onnx_plugin.cpp`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.big_windows import is_big
from ascendflow.graph.windows import POOLS, VOLUME, Window, lengths_for_pads, read_window


class PoolSameLower(NodeDeviation):
    """Padding at the wrong end."""

    name: ClassVar[str] = "pool-same-lower"
    op_types: ClassVar[frozenset[str]] = POOLS
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent",)
    onnx: ClassVar[str] = "auto_pad SAME_LOWER puts an odd element of padding in front."
    cann: ClassVar[str] = "SAME_LOWER is taken for SAME_UPPER, which puts it behind."
    cure: ClassVar[str | None] = "auto-pad-to-pads"
    source: ClassVar[str] = (
        "canndev max_pool_plugin.cc, average_pool_plugin.cc, lppool_plugin.cc 2022-06; "
        "ops-nn master max_pool_onnx_plugin.cpp, average_pool_onnx_plugin.cpp, "
        "lppool_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for an axis whose padding is odd."""
        window = read_window(node)
        if window is None or window.auto_pad != "SAME_LOWER":
            return Harmless("auto_pad is not SAME_LOWER")
        if _auto_pad_is_lost(node, window, conditions):
            return Harmless("auto_pad is not read at all here")
        lengths = lengths_for_pads(node, window)
        if lengths is None:
            return Found(
                "it pads in front where an axis is padded by an odd number", "silent"
            )
        closed = window.closed
        here = replace(closed, auto_pad="SAME_UPPER").pads_for(lengths)
        there = closed.pads_for(lengths)
        if here == there:
            return Harmless("every axis is padded by an even number")
        return Found(f"pads {there.spelled} become {here.spelled}", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Say what CANN understands."""
        if node.attributes.get_string("auto_pad") == "SAME_LOWER":
            node.attributes["auto_pad"] = ir.AttrString("auto_pad", "SAME_UPPER")


def _auto_pad_is_lost(node: ir.Node, window: Window, conditions: Conditions) -> bool:
    if node.op_type != "MaxPool" and window.rank == VOLUME:
        return True
    has_path = node.op_type != "AveragePool" or conditions.profile.is_read
    return is_big(window) and has_path
