"""Pools and Conv: auto_pad -> the pads that it stands for.

ATC takes SAME_LOWER of pools for SAME_UPPER, loses auto_pad of 3-D average pools and of
windows that are too big for its kernels, and refuses it on 3-D convolutions. Explicit
pads mean one thing everywhere.

Where a pool's stride is so long that the formula pads by less than nothing, onnxruntime
refuses MaxPool and AveragePool; of LpPool it crops the front by half of that, rounded
towards 0, SAME_LOWER by half of one less. That becomes a Slice.

Left alone where the amount is not sure: an unknown length, but at stride 1, or where all
gears pad alike; a dilated window, for which onnxruntime computes the pads of pools as if it
had no gaps and refuses convolutions; and ceil_mode, which is to have no say here, but has
in onnxruntime.

Source: ONNX operator documents, AveragePool-11, MaxPool-12, LpPool-11, Conv-11; canndev
`max_pool_plugin.cc`, `average_pool_plugin.cc`, `lppool_plugin.cc`, `conv_plugin.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.graph.edit import Chain, attributes_of
from ascendflow.graph.opset_spelling import SPATIAL, Cut, sliced
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.windows import (
    POOLS,
    Window,
    lengths_for_pads,
    lengths_in_gears,
    read_window,
)

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
        lengths = lengths_for_pads(node, window)
        if window.is_same and lengths is None:
            yield Skipped(node, _why_open(node, window))
            return
        crops = _crops(node, window, lengths or ())
        if crops is not None and node.op_type != "LpPool":
            yield Skipped(node, f"auto_pad {window.auto_pad} would crop its input")
            return
        pads = window.pads_for(lengths or ()).spelled
        before, after = {"auto_pad": window.auto_pad}, {"pads": pads}
        if crops is not None and any(crops):
            _crop(node, crops, lengths or (), pads)
            yield Applied(node, before, {**after, "cropped": crops})
            return
        node.attributes.pop("auto_pad")
        node.attributes["pads"] = ir.AttrInt64s("pads", pads)
        yield Applied(node, before, after)


def _why_not(window: Window) -> str | None:
    if window.auto_pad == "NOTSET":
        return "auto_pad is NOTSET"
    if window.is_same and window.is_dilated:
        return f"auto_pad {window.auto_pad} of a dilated window is computed in two ways"
    if window.is_same and window.ceil:
        return f"ceil_mode beside auto_pad {window.auto_pad}"
    return None


def _why_open(node: ir.Node, window: Window) -> str:
    if not (gears := lengths_in_gears(node)):
        return "the lengths of its input are not fixed along an axis of stride over 1"
    totals = {str(window.totals_for(each)): list(each) for each in gears}
    needed = ", ".join(f"{total} at lengths {each}" for total, each in totals.items())
    return f"its gears do not pad alike, or crop: by {needed}"


def _crops(node: ir.Node, window: Window, lengths: Sequence[int]) -> list[int] | None:
    """Return how much a pool's axes lose in front if one is padded by less than nothing.

    Convolutions stop at 0.
    """
    if node.op_type not in POOLS or not window.is_same:
        return None
    totals = window.totals_for(lengths)
    if min(totals) >= 0:
        return None
    less = 1 if window.auto_pad == "SAME_LOWER" else 0
    return [max(-total - less, 0) // 2 for total in totals]


def _crop(
    node: ir.Node, crops: Sequence[int], lengths: Sequence[int], pads: list[int]
) -> None:
    chain, x = Chain(node), node.inputs[0]
    assert x is not None  # noqa: S101, it has lengths
    cuts = [
        Cut(SPATIAL + axis, crop, length)
        for axis, (crop, length) in enumerate(zip(crops, lengths, strict=True))
        if crop
    ]
    attributes = attributes_of(node, without={"auto_pad"}) | {"pads": pads}
    chain(node.op_type, [sliced(chain, x, cuts)], attributes)
    chain.put_in_place()
