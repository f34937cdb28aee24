"""Remembers what a file declares of values whose types and shapes were inferred."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from ascendflow.graph.nodes import bodies_of
from ascendflow.graph.traverse import subgraphs_of

if TYPE_CHECKING:
    import onnx
    import onnx_ir as ir

DECLARED = "ascendflow.declared"
"""Key under which a value keeps its declared type and shape."""


def remember_declared(graph: ir.Graph, proto: onnx.GraphProto) -> None:
    """Note what the file itself says of each value; reading it twice would cost double.

    Args:
        graph: with inferred types and shapes, which are lent.
        proto: the same graph with its own.
    """
    said = {v.name: v for v in (*proto.value_info, *proto.input, *proto.output)}
    made = chain.from_iterable(node.outputs for node in graph)
    for value in chain(graph.inputs, made):
        if value.type is not None or value.shape is not None:
            value.meta[DECLARED] = _said(said.get(value.name or ""))
    for node, declared in zip(graph, proto.node, strict=True):
        if any(map(_holds_graphs, declared.attribute)):
            bodies = zip(bodies_of(node), subgraphs_of(declared), strict=True)
            for body, inner in bodies:
                remember_declared(body, inner)


def _said(info: onnx.ValueInfoProto | None) -> tuple[Any, Any]:
    """Return a declared type and shape."""
    import onnx_ir as ir

    if info is None:
        return None, None
    shape = ir.serde.deserialize_type_proto_for_shape(info.type)
    return ir.serde.deserialize_type_proto_for_type(info.type), shape


def _holds_graphs(attribute: onnx.AttributeProto) -> bool:
    return attribute.HasField("g") or len(attribute.graphs) > 0
