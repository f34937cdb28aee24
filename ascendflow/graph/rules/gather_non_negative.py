"""Gather: constant indices that count from the end -> the same from the start.

Source: ONNX operator docs, Gather-13; canndev `selection_ops.h`, whose GatherV2 wants
indices from 0 on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import add_constant
from ascendflow.graph.nodes import constant, length_along
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class GatherNonNegative(Rule):
    """Count from the start."""

    name: ClassVar[str] = "gather-non-negative"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Gather"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace the input indices."""
        indices = constant(node.inputs[1])
        if indices is None:
            yield Skipped(node, "its indices are computed")
            return
        if not indices.size or indices.min() >= 0:
            yield Skipped(node, "no index is negative")
            return
        axis = node.attributes.get_int("axis", 0)
        if (length := length_along(node.inputs[0], axis)) is None:
            yield Skipped(node, f"the length of axis {axis} is not fixed")
            return
        counted = np.where(indices < 0, indices + length, indices).astype(indices.dtype)
        node.replace_input_with(1, add_constant(node, "indices", counted))
        lowest = {"lowest index": int(indices.min())}
        yield Applied(node, lowest, {"lowest index": int(counted.min())})
