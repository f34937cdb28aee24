"""Pools and Conv: auto_pad -> the pads that it stands for.

ATC takes SAME_LOWER of pools for SAME_UPPER, loses auto_pad of 3-D average pools and of
windows that are too big for its kernels, and refuses it on 3-D convolutions. Explicit
pads mean one thing everywhere.

Left alone where the amount is not sure: unknown lengths; a dilated window, for which
onnxruntime computes the pads of pools as if it had no gaps and refuses convolutions; a
pool's stride so long that the formula pads by less than nothing; and ceil_mode, which is
to have no say here, but has in onnxruntime.

Source: ONNX operator documents, AveragePool-11, MaxPool-12, LpPool-11, Conv-11; canndev
`max_pool_plugin.cc`, `average_pool_plugin.cc`, `lppool_plugin.cc`, `conv_plugin.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.windows import POOLS, Window, lengths_of, read_window

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ascendflow.documents.rewrite_log import Effect


class AutoPadToPads(Rule):
    """Write auto_pad as pads."""

    name: ClassVar[str] = "auto-pad-to-pads"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = POOLS | {"Conv"}
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Rewrite one pool or convolution in place."""
        window = read_window(node)
        if window is None:
            yield Skipped(node, "the shape of its kernel is unknown")
            return
        if (reason := _why_not(window)) is not None:
            yield Skipped(node, reason)
            return
        lengths = lengths_of(node)
        if window.is_same and lengths is None:
            yield Skipped(node, "the lengths of its input are not fixed")
            return
        if _crops(node, window, lengths or ()):
            yield Skipped(node, f"auto_pad {window.auto_pad} would crop its input")
            return
        pads = window.pads_for(lengths or ()).spelled
        node.attributes.pop("auto_pad")
        node.attributes["pads"] = ir.AttrInt64s("pads", pads)
        yield Applied(node, {"auto_pad": window.auto_pad}, {"pads": pads})


def _why_not(window: Window) -> str | None:
    if window.auto_pad == "NOTSET":
        return "auto_pad is NOTSET"
    if window.is_same and window.is_dilated:
        return f"auto_pad {window.auto_pad} of a dilated window is computed in two ways"
    if window.is_same and window.ceil:
        return f"ceil_mode beside auto_pad {window.auto_pad}"
    return None


def _crops(node: ir.Node, window: Window, lengths: Sequence[int]) -> bool:
    """Return whether a pool is padded by less than nothing; convolutions stop at 0."""
    is_pool = node.op_type in POOLS
    return is_pool and window.is_same and min(window.totals_for(lengths)) < 0
