"""Small constants that keep a division, a root or a logarithm away from 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.uses import final_uses

if TYPE_CHECKING:
    import onnx_ir as ir

GUARDING = frozenset({"Add", "Clip", "Max"})
"""Operators that put an epsilon in: x + eps, max(x, eps), clip(x, eps, ...)."""

_GUARDED = {("Div", 1), ("Log", 0), ("Pow", 0), ("Reciprocal", 0), ("Sqrt", 0)}


def epsilon_inputs(node: ir.Node) -> range:
    """Return which inputs of a guarding node may be its epsilon."""
    return range(1, min(2, len(node.inputs))) if node.op_type == "Clip" else range(2)


def guards(node: ir.Node) -> str | None:
    """Return the operator type that what `node` gives is kept away from 0 for, or None."""
    for use in final_uses(node.outputs[0]):
        if use.node is not None and (use.node.op_type, use.position) in _GUARDED:
            return use.node.op_type
    return None
