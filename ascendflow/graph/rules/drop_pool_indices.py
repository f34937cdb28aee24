"""MaxPool: drop the output Indices that nobody reads, and storage_order.

ATC's parser refuses a MaxPool with a second output, used or not, and one with
storage_order 1, which says nothing but how Indices are counted.

Source: ONNX operator documents, MaxPool-12; canndev `max_pool_plugin.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.edit import Chain, attributes_of
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class DropPoolIndices(Rule):
    """Leave MaxPool its values only."""

    name: ClassVar[str] = "drop-pool-indices"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"MaxPool"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Edit one MaxPool."""
        column_major = node.attributes.get_int("storage_order", 0) == 1
        if len(node.outputs) == 1 and not column_major:
            yield Skipped(node, "it gives its values only")
            return
        extra = node.outputs[1:]
        if any(value.uses() or value.is_graph_output() for value in extra):
            yield Skipped(node, f"its Indices {extra[0].name!r} are used")
            return
        before = {"outputs": [value.name for value in node.outputs]}
        attributes = attributes_of(node, without={"storage_order"})
        if extra:
            node.resize_outputs(1)
        chain = Chain(node)
        chain("MaxPool", list(node.inputs), attributes)
        chain.put_in_place()
        yield Applied(node, before, {"outputs": before["outputs"][:1]})
