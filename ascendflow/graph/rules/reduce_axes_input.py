"""ReduceSum with an axes input: noop_with_empty_axes=1, where there are axes.

CANN up to 6.0 takes an axes input of ReduceSum only with noop_with_empty_axes other than 0.
In ONNX the attribute says what no axes mean; with at least one it says nothing.

ReduceMean has its axes as an input since opset 18, where CANN from 8.5 on reads an
attribute. It becomes ReduceSum, whose input is read, times 1 / n for the n elements that
are averaged; that is why the rule is not exact. ReduceSumSquare becomes ReduceSum of x * x.
The other reductions are left alone.

Source: ONNX operator docs, ReduceSum-13 and ReduceMean-18; canndev `reduce_sum_plugin.cc`,
2021-06 to 2022-06; ops-math `reduce_mean_onnx_plugin.cpp`, 8.5.0 and 9.1.0.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import Chain
from ascendflow.graph.reductions import (
    NOOP,
    Axes,
    reads_axes,
    reduced_axes,
    reduced_lengths,
)
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.rewrite_log import Effect


class ReduceAxesInput(Rule):
    """Spell reductions with an axes input so that CANN reads it."""

    name: ClassVar[str] = "reduce-axes-input"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset(
        {"ReduceMean", "ReduceSum", "ReduceSumSquare"}
    )
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Set an attribute of a sum, or make a mean a sum.

        Args:
            node: a node whose `op_type` is in `op_types`.

        Yields:
            One `Applied` or one `Skipped`, never both.
        """
        if "axes" in node.attributes or reads_axes(node) is not Axes.SOME:
            yield Skipped(node, "it has no axes input that surely holds an axis")
        elif node.op_type == "ReduceMean":
            yield _as_sum(node)
        elif node.op_type == "ReduceSumSquare":
            yield _squared(node)
        elif node.attributes.get_int(NOOP, 0):
            yield Skipped(node, f"{NOOP} is 1 already")
        else:
            node.attributes.add(ir.AttrInt64(NOOP, 1))
            yield Applied(node, {NOOP: 0}, {NOOP: 1})


def _squared(node: ir.Node) -> Finding:
    data = node.inputs[0]
    if data is None or data.dtype != ir.DataType.FLOAT:
        return Skipped(node, "its type is not fp32")
    chain = Chain(node)
    keepdims = {"keepdims": node.attributes.get_int("keepdims", 1)}
    chain("ReduceSum", [chain("Mul", [data, data]), node.inputs[1]], keepdims)
    chain.put_in_place()
    return Applied(node, {"op_type": "ReduceSumSquare"}, {"op_types": ["Mul", "ReduceSum"]})


def _as_sum(node: ir.Node) -> Finding:
    """Replace a mean over known axes of known lengths."""
    data, axes = node.inputs[0], reduced_axes(node)
    if data is None or axes is None:
        return Skipped(node, "its axes or the rank of its input are not known")
    lengths = reduced_lengths(node, axes)
    if data.dtype != ir.DataType.FLOAT:
        return Skipped(node, "its type is not fp32")
    known = [length for length in lengths if isinstance(length, int) and length > 0]
    if len(known) < len(lengths):
        return Skipped(node, f"the lengths {[str(n) for n in lengths]} are not known, or 0")
    chain = Chain(node)
    attributes = {"keepdims": node.attributes.get_int("keepdims", 1), NOOP: 1}
    total = chain("ReduceSum", [data, node.inputs[1]], attributes)
    share = chain.constant("share", np.array(1 / prod(known), np.float32))
    chain("Mul", [total, share])
    chain.put_in_place()
    return Applied(node, {"op_type": "ReduceMean"}, {"op_types": ["ReduceSum", "Mul"]})
