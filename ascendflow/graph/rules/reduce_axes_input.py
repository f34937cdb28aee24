"""Reductions with an axes input, spelled with the one that CANN reads: ReduceSum's.

1. ReduceSum: noop_with_empty_axes=1. CANN up to 6.0 takes an axes input only with an
   attribute other than 0; in ONNX it says what no axes mean, and with at least one nothing.
   From 8.5 on the input is read in any case.
2. ReduceMean: ReduceSum times 1 / n for the n elements that are averaged.
3. ReduceSumSquare, ReduceLogSum: ReduceSum of x * x, and the logarithm of ReduceSum.
4. ReduceMax, ReduceMin, ReduceProd: each axis is halved by Slices, and the halves are
   combined by Max, Min or Mul, until one element is left.
5. ReduceLogSumExp: log(sum(exp(x - m))) + m with m the maximum, by 3 and 4; m is 0 where
   the maximum is infinite, as in onnxruntime, so that infinities come out as they do there.

Sums and products are rounded in another order; that is why the rule is not exact.

Source: ONNX operator docs, ReduceSum-13 and ReduceMax-18; canndev `reduce_sum_plugin.cc`,
2021-06 to 2022-06; ops-math `reduce_*_onnx_plugin.cpp`, 8.5.0 and 9.1.0.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import Chain
from ascendflow.graph.halving import combined
from ascendflow.graph.nodes import why_not_float32
from ascendflow.graph.reductions import (
    NOOP,
    Axes,
    reads_axes,
    reduced_axes,
    reduced_lengths,
)
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.documents.rewrite_log import Effect

_COMBINED_BY = {"ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Mul"}
_OF_ANY_TYPE = frozenset({"ReduceMax", "ReduceMin", "ReduceSum"})
"""What takes an element as it is, or stays what it is; others would round each step."""
_BY_LENGTHS = frozenset({*_COMBINED_BY, "ReduceLogSumExp", "ReduceMean"})
_SPELLED = {
    "ReduceLogSum": "ReduceSum, Log",
    "ReduceLogSumExp": "Slice, Max, Exp, ReduceSum, Log",
    "ReduceMax": "Slice, Max",
    "ReduceMean": "ReduceSum, Mul",
    "ReduceMin": "Slice, Min",
    "ReduceProd": "Slice, Mul",
    "ReduceSumSquare": "Mul, ReduceSum",
}


class ReduceAxesInput(Rule):
    """Spell reductions with an axes input so that CANN reads it."""

    name: ClassVar[str] = "reduce-axes-input"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"ReduceSum", *_SPELLED})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Set an attribute of a sum, or put other nodes in the node's place.

        Args:
            node: a node whose `op_type` is in `op_types`.

        Yields:
            One `Applied` or one `Skipped`, never both.
        """
        lengths = _lengths(node)
        if (reason := _why_not(node, lengths)) is not None:
            yield Skipped(node, reason)
        elif node.op_type == "ReduceSum":
            node.attributes.add(ir.AttrInt64(NOOP, 1))
            yield Applied(node, {NOOP: 0}, {NOOP: 1})
        else:
            before, after = {"op_type": node.op_type}, {"nodes": _SPELLED[node.op_type]}
            _respell(node, lengths or {})
            yield Applied(node, before, after)


def _why_not(node: ir.Node, lengths: Mapping[int, int] | None) -> str | None:
    if "axes" in node.attributes or reads_axes(node) is not Axes.SOME:
        return "it has no axes input that surely holds an axis"
    if node.op_type == "ReduceSum" and node.attributes.get_int(NOOP, 0) != 0:
        return f"{NOOP} is 1 already"
    if node.op_type not in _OF_ANY_TYPE:
        reason = why_not_float32(node.inputs[0])
        if reason is not None:
            return reason
    if node.op_type in _BY_LENGTHS and lengths is None:
        return "its axes are no constant, or how long they are is not fixed, or is 0"
    return None


def _lengths(node: ir.Node) -> dict[int, int] | None:
    """Return axis -> length of what is reduced, None where one is not fixed, or is 0."""
    axes = reduced_axes(node)
    if axes is None:
        return None
    lengths = zip(axes, reduced_lengths(node, axes), strict=True)
    fixed = {axis: n for axis, n in lengths if isinstance(n, int) and n > 0}
    return fixed if len(fixed) == len(axes) else None


def _respell(node: ir.Node, lengths: Mapping[int, int]) -> None:
    """Put other nodes in the place of one that is no sum."""
    chain, x = Chain(node), node.inputs[0]
    assert x is not None  # noqa: S101, a reduction reads something
    if node.op_type in _COMBINED_BY:
        op_type = _COMBINED_BY[node.op_type]
        _squeezed(chain, node, combined(chain, op_type, x, lengths), lengths)
    elif node.op_type == "ReduceLogSumExp":
        _log_sum_exp(chain, node, x, lengths)
    elif node.op_type == "ReduceLogSum":
        chain("Log", [_sum(chain, node, x)])
    elif node.op_type == "ReduceSumSquare":
        _sum(chain, node, chain("Mul", [x, x]))
    else:
        share = chain.constant("share", np.array(1 / prod(lengths.values()), np.float32))
        chain("Mul", [_sum(chain, node, x), share])
    chain.put_in_place()


def _sum(chain: Chain, node: ir.Node, x: ir.Value) -> ir.Value:
    """Append a sum of `x` over the node's axes, which keeps what the node keeps."""
    attributes = {"keepdims": node.attributes.get_int("keepdims", 1)}
    return chain("ReduceSum", [x, node.inputs[1]], attributes)


def _squeezed(
    chain: Chain, node: ir.Node, value: ir.Value, axes: Mapping[int, int]
) -> None:
    """Append what drops the reduced axes where the node does not keep them."""
    if not node.attributes.get_int("keepdims", 1):
        dropped = chain.constant("dropped", np.array(list(axes), np.int64))
        chain("Squeeze", [value, dropped])
    elif value is node.inputs[0]:  # all its axes are of length 1
        chain("Identity", [value])


def _log_sum_exp(
    chain: Chain, node: ir.Node, x: ir.Value, lengths: Mapping[int, int]
) -> None:
    largest = combined(chain, "Max", x, lengths)
    # What equals its double is 0 or infinite.
    is_infinite = chain("Equal", [largest, chain("Add", [largest, largest])])
    zero = chain.constant("zero", np.array(0, np.float32))
    shift = chain("Where", [is_infinite, zero, largest])
    powers = chain("Exp", [chain("Sub", [x, shift])])
    total = chain("ReduceSum", [powers, node.inputs[1]], {"keepdims": 1})
    _squeezed(chain, node, chain("Add", [chain("Log", [total]), shift]), lengths)
