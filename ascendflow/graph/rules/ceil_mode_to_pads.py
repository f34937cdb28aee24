"""Pools: ceil_mode -> as much padding at the end as its last window reads.

ceil_mode adds a window that reaches past the end, unless it begins in the padding. ATC
does not read it on LpPool and on windows that are too big for its kernels, gives
AveragePool the window that begins in the padding too, and divides by all that the last
window spans, where ONNX leaves out what lies beyond `pads`.

Explicit padding at the end says the same: to a maximum and a sum of powers it is nothing,
and a mean that does not count its padding has the same divisor. For one that does,
`pads` become elements first, and what lies beyond them is padding that does not count; its
values may differ in the last bit, all others stay as they are.

The padding must be the same in every gear.

Source: ONNX operator documents, AveragePool-11, MaxPool-12, LpPool-18; canndev
`nn_pooling_ops.cc`, `lppool_plugin.cc`, `max_pool_plugin.cc`; CANN 8.1.RC1
`dynamic/avg_pool_v2.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain, attributes_of
from ascendflow.graph.opset_spelling import padded
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.windows import (
    POOLS,
    Pads,
    Window,
    counts_padding,
    lengths_in_gears,
    read_window,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class CeilModeToPads(Rule):
    """Write ceil_mode as pads."""

    name: ClassVar[str] = "ceil-mode-to-pads"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = POOLS
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one pool."""
        window, gears = read_window(node), lengths_in_gears(node)
        if window is None or not window.ceil:
            yield Skipped(node, "its ceil_mode is off")
            return
        if (reason := _why_not(node, window)) is not None:
            yield Skipped(node, reason)
            return
        if not gears:
            yield Skipped(node, "the lengths of its input are not fixed")
            return
        read, *others = dict.fromkeys(map(window.tails_read, gears))
        if others:
            told = ", ".join(str(list(each)) for each in (read, *others))
            yield Skipped(node, f"its gears read past the end by different numbers: {told}")
            return
        if any(tail >= k for tail, k in zip(read, window.kernel, strict=True)):
            yield Skipped(
                node, f"its window of {list(window.kernel)} reads {list(read)} past"
            )
            return
        before = {"ceil_mode": 1, "pads": window.pads.spelled}
        yield Applied(node, before, {"pads": _write(node, window, read).spelled})


def _why_not(node: ir.Node, window: Window) -> str | None:
    if window.is_same:
        return f"ceil_mode beside auto_pad {window.auto_pad}"
    if len(node.outputs) > 1:
        return "it gives Indices"
    return None


def _write(node: ir.Node, window: Window, read: tuple[int, ...]) -> Pads:
    """Put a pool without ceil_mode in the node's place; returns its pads."""
    chain, value = Chain(node), node.inputs[0]
    assert value is not None  # noqa: S101, it has lengths
    dropped = {"ceil_mode", "auto_pad"}
    pads = Pads(window.pads.heads, read)
    if counts_padding(node):
        dropped.add("count_include_pad")
        counted = tuple(map(min, window.pads.tails, read))
        elements = Pads(window.pads.heads, counted)
        if elements:
            assert value.dtype is not None  # noqa: S101, a pool's input is inferred
            value = padded(chain, value, elements, np.array(0, value.dtype.numpy()))
        beyond = tuple(a - b for a, b in zip(read, counted, strict=True))
        pads = Pads((0,) * window.rank, beyond)
    attributes = attributes_of(node, without=dropped) | {"pads": pads.spelled}
    chain(node.op_type, [value], attributes)
    chain.put_in_place()
    return pads
