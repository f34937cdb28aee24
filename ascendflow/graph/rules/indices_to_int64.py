"""TopK, ArgMax, ArgMin: a Cast of the indices to int64.

In ONNX they are int64 already and the Cast does nothing. In CANN they are int32, and the
Cast makes them what the nodes behind expect.

Source: canndev `selection_ops.h` (REG_OP(TopK)), `argmin_plugin.cc`; msit
`knowledge_topk_fix.py`, which adds the same Cast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.rewrite_log import Effect


class IndicesToInt64(Rule):
    """Say with a Cast that indices are int64."""

    name: ClassVar[str] = "indices-to-int64"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"TopK", "ArgMax", "ArgMin"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put the node and a Cast in the node's place."""
        indices = node.outputs[-1]
        if node.op_type == "TopK" and len(node.outputs) < 2:
            yield Skipped(node, "its indices are not used")
            return
        readers = [reader.op_type for reader, _ in indices.uses()]
        if not indices.is_graph_output() and set(readers) <= {"Cast"}:
            yield Skipped(node, "its indices are cast already" if readers else "unused")
            return
        _cast(node)
        yield Applied(node, before={}, after={"cast": indices.name, "to": "INT64"})


def _cast(node: ir.Node) -> None:
    same = ir.Node(
        node.domain,
        node.op_type,
        node.inputs,
        list(node.attributes.values()),
        num_outputs=len(node.outputs),
        name=node.name,
        version=node.version,
    )
    old, narrow = node.outputs[-1], same.outputs[-1]
    narrow.name = f"{old.name}/int32"
    narrow.type, narrow.shape = old.type, old.shape
    to = ir.AttrInt64("to", ir.DataType.INT64)
    cast = ir.Node("", "Cast", [narrow], [to], name=f"{node.name or old.name}/Cast")
    new = [*same.outputs[:-1], cast.outputs[0]]
    for value, replaced in zip(new, node.outputs, strict=True):
        value.type, value.shape = replaced.type, replaced.shape
    assert node.graph is not None  # noqa: S101, a node that is edited is in a graph
    ir.convenience.replace_nodes_and_values(
        node.graph, node, [node], [same, cast], node.outputs, new
    )
