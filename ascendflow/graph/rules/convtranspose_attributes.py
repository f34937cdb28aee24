"""ConvTranspose: output_shape and auto_pad -> pads; write kernel_shape.

ATC refuses a ConvTranspose without kernel_shape. With output_shape or auto_pad its pads
depend on a flag that earlier nodes left, and on which of two formulas is asked. A 1-D one
with output_padding is refused up to 6.0; where the tail is cropped by as much, cropping
less is the same.

Source: ONNX operator documents, ConvTranspose-11; canndev `conv_transpose_plugin.cc`,
`nn_calculation_ops.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import onnx_ir as ir

from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.transposed import Transposed, read_transposed
from ascendflow.graph.windows import Pads, lengths_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ascendflow.documents.rewrite_log import Effect

LISTS = ("kernel_shape", "pads", "output_padding", "output_shape")


class ConvTransposeAttributes(Rule):
    """Say it with kernel_shape, pads and output_padding."""

    name: ClassVar[str] = "convtranspose-attributes"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"ConvTranspose"})
    effect: ClassVar[Effect] = "exact"

    def against(self, node: ir.Node, model: ir.Model) -> list[ir.Node]:
        """List the node, or where it says all, those whose output_shape leaks to it."""
        says_all = "kernel_shape" in node.attributes and not _leaks(node)
        leaking = [each for each in self.candidates(model) if _leaks(each)]
        return leaking if says_all and leaking else super().against(node, model)

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Rewrite one ConvTranspose in place."""
        transposed = read_transposed(node)
        if transposed is None:
            yield Skipped(node, "the shape of its weights is unknown")
            return
        before = _described(node)
        wanted = _wanted(node, transposed)
        if isinstance(wanted, str):
            yield Skipped(node, wanted)
            return
        gone = {name for name, numbers in wanted.items() if numbers is None}
        written = {name: list(numbers) for name, numbers in wanted.items() if numbers}
        after = {k: v for k, v in before.items() if k not in gone} | written
        if before == after:
            yield Skipped(node, "it says its pads and its kernel_shape")
            return
        for name in gone:
            node.attributes.pop(name, None)
        for name, numbers in written.items():
            node.attributes[name] = ir.AttrInt64s(name, numbers)
        yield Applied(node, before, after)


def _leaks(node: ir.Node) -> bool:
    return "output_shape" in node.attributes or "auto_pad" in node.attributes


def _wanted(node: ir.Node, transposed: Transposed) -> dict[str, Sequence[int] | None] | str:
    """Return the attributes that say the same, None for those to drop, or why not."""
    pads, extra = transposed.pads, transposed.output_padding
    if not transposed.is_explicit:
        lengths = lengths_of(node)
        if lengths is None:
            return "the lengths of its input are not fixed"
        if (reason := _why_ambiguous(transposed, lengths)) is not None:
            return reason
        pads, extra = transposed.explicit(lengths)
        bounds = map(max, transposed.strides, transposed.dilations)
        if any(more >= bound for more, bound in zip(extra, bounds, strict=True)):
            return f"output_shape is further than output_padding {list(extra)} may reach"
    if transposed.rank == 1 and 0 < extra[0] <= pads.tails[0]:
        pads, extra = Pads(pads.heads, (pads.tails[0] - extra[0],)), (0,)
    wanted: dict[str, Sequence[int] | None] = {
        "kernel_shape": transposed.kernel,
        "output_shape": None,
        "auto_pad": None,
    }
    if pads != transposed.pads or transposed.auto_pad != "NOTSET":
        wanted["pads"] = pads.spelled
    if not any(extra):
        wanted["output_padding"] = None
    elif extra != transposed.output_padding:
        wanted["output_padding"] = extra
    return wanted


def _why_ambiguous(transposed: Transposed, lengths: Sequence[int]) -> str | None:
    """Say where ONNX's shape inference and onnxruntime give the output two lengths."""
    if transposed.output_shape is not None:
        return None
    auto_pad = f"auto_pad {transposed.auto_pad}"
    if any(transposed.output_padding):
        return f"{auto_pad} beside output_padding is read in two ways"
    if min(transposed.totals(lengths)) < 0:
        return f"{auto_pad} of a kernel shorter than its stride is read in two ways"
    return None


def _described(node: ir.Node) -> dict[str, Any]:
    lists = {
        name: list(node.attributes[name].as_ints())
        for name in LISTS
        if name in node.attributes
    }
    auto_pad = node.attributes.get_string("auto_pad", "NOTSET")
    return lists if auto_pad == "NOTSET" else {"auto_pad": auto_pad, **lists}
