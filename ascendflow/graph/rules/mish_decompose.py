"""Mish -> x * tanh(softplus(x)), its definition.

canndev has no parser for Mish, the open repositories have one from 8.5 on.

Source: ONNX operator docs, Mish-18; canndev `onnx_plugin` 2022-06; ops-nn 8.5.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import why_not_float32
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class MishDecompose(Rule):
    """Spell Mish out."""

    name: ClassVar[str] = "mish-decompose"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Mish"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put Softplus, Tanh and Mul in the node's place."""
        x = node.inputs[0]
        if (reason := why_not_float32(x)) is not None:
            yield Skipped(node, reason)  # in float16 each step would round
            return
        chain = Chain(node)
        chain("Mul", [x, chain("Tanh", [chain("Softplus", [x])])])
        chain.put_in_place()
        yield Applied(node, before={}, after={"nodes": ["Softplus", "Tanh", "Mul"]})
