"""Clip without min and max: bounds of floats written out, whole numbers left as they are.

CANN refuses a Clip without bounds. By definition they are the least and the greatest finite
number of the type, so infinities are clipped, in onnxruntime too; nothing else is. Of whole
numbers nothing is, so there the node becomes Identity.

Source: ONNX operator docs, Clip-11 and later; ops-math `clip_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import Chain, add_constant
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.rewrite_log import Effect

_BOUNDS_ARE_INPUTS = 11
_FLOATS = frozenset({ir.DataType.FLOAT16, ir.DataType.FLOAT, ir.DataType.DOUBLE})
_WHOLE = frozenset(
    {
        ir.DataType.INT8, ir.DataType.INT16, ir.DataType.INT32, ir.DataType.INT64,
        ir.DataType.UINT8, ir.DataType.UINT16, ir.DataType.UINT32, ir.DataType.UINT64,
    }
)  # fmt: skip


class ClipUnbounded(Rule):
    """Give a Clip without bounds those that it has by definition."""

    name: ClassVar[str] = "clip-unbounded"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Clip"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Give one node bounds, or put Identity in its place."""
        dtype = None if node.inputs[0] is None else node.inputs[0].dtype
        if (node.version or 0) < _BOUNDS_ARE_INPUTS:
            yield Skipped(node, f"opset {node.version} has its bounds as attributes")
        elif any(value is not None for value in node.inputs[1:]):
            yield Skipped(node, "it has a bound")
        elif dtype in _FLOATS:
            limits = np.finfo(dtype.numpy())
            node.resize_inputs(3)
            node.replace_input_with(1, add_constant(node, "min", limits.min))
            node.replace_input_with(2, add_constant(node, "max", limits.max))
            after = {"min": float(limits.min), "max": float(limits.max)}
            yield Applied(node, {"min": None, "max": None}, after)
        elif dtype in _WHOLE:
            chain = Chain(node)
            chain("Identity", [node.inputs[0]])
            chain.put_in_place()
            yield Applied(node, {"op_type": "Clip"}, {"op_type": "Identity"})
        else:
            name = "unknown" if dtype is None else dtype.name.lower()
            yield Skipped(node, f"its type is {name}, whose limits are not known")
