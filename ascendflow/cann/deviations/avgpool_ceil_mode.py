"""AveragePool with ceil_mode: one window more, and another divisor.

1. Where the last window begins in the padding, ONNX leaves it out. AvgPoolV2 counts it;
   it reads padding alone, which is 0, and no divisor is below 1.
2. With count_include_pad, ONNX divides by what a window spans of the input and of `pads`.
   CANN divides by the whole window, whatever lies beyond `pads`.

AI CPU, where fp32 goes, shares the first; its divisors were not read, and after 6.0 those
of one AI Core kernel of two were. AvgPool3D leaves the window out as ONNX does.

Sources: canndev `nn_pooling_ops.cc` (AvgPoolV2InferShape), `avg_pool_v2_fusion_pass.cc`,
2022-06; ops-nn 9.1.0 and master `avg_pool_v2_infershape.cpp`; CANN 8.1.RC1
`dynamic/avg_pool_v2.py` (calculate_pads, avg_pool_v2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.cann import ceil_mode
from ascendflow.cann.big_pools import spell_out
from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.big_windows import is_big
from ascendflow.graph.edit import Chain, attributes_of
from ascendflow.graph.opset_spelling import padded
from ascendflow.graph.windows import (
    VOLUME,
    Pads,
    Window,
    counts_padding,
    lengths_of,
    read_window,
)

if TYPE_CHECKING:
    import onnx_ir as ir


class AveragePoolCeilMode(NodeDeviation):
    """Cases 1 and 2 of the module's text."""

    name: ClassVar[str] = "avgpool-ceil-mode"
    op_types: ClassVar[frozenset[str]] = frozenset({"AveragePool"})
    models_kernel: ClassVar[bool] = True
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "No window begins in the padding, and what lies beyond pads does not count."
    )
    cann: ClassVar[str] = (
        "A window that begins in the padding is one more output; with count_include_pad "
        "every window is divided by all its elements."
    )
    cure: ClassVar[str | None] = "ceil-mode-to-pads"
    source: ClassVar[str] = (
        "canndev nn_pooling_ops.cc, avg_pool_v2_fusion_pass.cc 2022-06; ops-nn 9.1.0 and "
        "master avg_pool_v2_infershape.cpp; CANN 8.1.RC1 dynamic/avg_pool_v2.py"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Count the windows, and what the last ones read."""
        window = _at_stake(node, conditions)
        if window is None:
            return Harmless("no ceil_mode that AvgPoolV2 reads")
        counted = counts_padding(node)
        lengths = lengths_of(node)
        if lengths is None:
            if counted or ceil_mode.may_begin_in_padding(window):
                return Found("ceil_mode of an input whose lengths are not fixed", "unknown")
            return Harmless("no window can begin in the padding")
        here, there = ceil_mode.outputs(window, lengths), window.outputs_for(lengths)
        if here != there:
            reason = f"ceil_mode gives {list(here)} outputs instead of {list(there)}"
            return Found(reason, "silent" if conditions.half else "unknown")
        beyond = [
            read - tail
            for read, tail in zip(
                window.tails_read(lengths), window.pads.tails, strict=True
            )
        ]
        if counted and max(beyond) > 0:
            reason = f"the last windows' divisors count {max(beyond)} beyond pads"
            return Found(reason, "silent" if conditions.half else "unknown")
        return Harmless("ceil_mode adds no window in the padding and nothing to divide by")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Pad for all windows and divide by them, or append what they give, 0."""
        window, lengths = _at_stake(node, conditions), lengths_of(node)
        if window is None or lengths is None:
            return
        here, there = ceil_mode.outputs(window, lengths), window.outputs_for(lengths)
        if counts_padding(node):
            spell_out(node, _padded_for(window, lengths, here), 0.0)
        elif here != there:
            chain = Chain(node)
            pooled = chain(node.op_type, [node.inputs[0]], attributes_of(node))
            more = tuple(a - b for a, b in zip(here, there, strict=True))
            nothing = np.array(0, np.float32)
            padded(chain, pooled, Pads((0,) * window.rank, more), nothing)
            chain.put_in_place()


def _at_stake(node: ir.Node, conditions: Conditions) -> Window | None:
    """Return the window if AvgPoolV2 gets its ceil_mode, else None."""
    window = read_window(node)
    if window is None or not window.ceil or window.is_same or window.rank == VOLUME:
        return None
    lost = is_big(window) and conditions.profile.is_read
    return None if lost else window


def _padded_for(
    window: Window, lengths: tuple[int, ...], outputs: tuple[int, ...]
) -> Window:
    """Return the window with tails for all that `outputs` windows span."""
    tails = window.closed.tails_read(lengths, outputs)
    return replace(window, pads=Pads(window.pads.heads, tails), ceil=False)
