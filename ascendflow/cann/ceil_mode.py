"""How many windows CANN counts where ceil_mode is on.

Sources: canndev `nn_pooling_ops.cc` (AvgPoolV2InferShape, CALCULATEUpdateDimAndRange),
2022-06; ops-nn 9.1.0 and master `avg_pool_v2_infershape.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ascendflow.graph.windows import Lengths, Window


def outputs(window: Window, lengths: Sequence[int]) -> Lengths:
    """Return the output's lengths, windows that begin in the padding included."""
    pads = window.pads
    axes = zip(lengths, window.extents, window.strides, pads.heads, pads.tails, strict=True)
    return tuple(
        -(-(n + head + tail - extent) // stride) + 1
        for n, extent, stride, head, tail in axes
    )


def may_begin_in_padding(window: Window) -> bool:
    """Whether for some length a last window begins behind the input."""
    axes = zip(window.extents, window.strides, window.pads.tails, strict=True)
    return any(stride > extent - tail for extent, stride, tail in axes)
