"""Walks over an ONNX protobuf: every graph, node and tensor, sub-graphs included."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx


def every_graph(model: onnx.ModelProto) -> Iterator[onnx.GraphProto]:
    """Yield the main graph, then each sub-graph, in the order of their nodes."""
    yield from _with_subgraphs(model.graph)
    for function in model.functions:
        for node in function.node:
            for graph in subgraphs_of(node):
                yield from _with_subgraphs(graph)


def every_node(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield each node of the model: its graphs' and its local functions'."""
    for graph in every_graph(model):
        yield from graph.node
    for function in model.functions:
        yield from function.node


def initializers(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield each dense initializer, graph by graph."""
    for graph in every_graph(model):
        yield from graph.initializer


def attribute_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield each tensor that is no dense initializer: in attributes, or sparse."""
    for graph in every_graph(model):
        for sparse in graph.sparse_initializer:
            yield from (sparse.values, sparse.indices)
    for node in every_node(model):
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            if attribute.HasField("sparse_tensor"):
                yield from (attribute.sparse_tensor.values, attribute.sparse_tensor.indices)


def every_tensor(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield each tensor that the model stores."""
    yield from initializers(model)
    yield from attribute_tensors(model)


def subgraphs_of(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the graphs that `node` holds in attributes (If, Loop, Scan)."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _with_subgraphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for inner in subgraphs_of(node):
            yield from _with_subgraphs(inner)
