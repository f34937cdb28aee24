"""Who makes and who reads each tensor of a graph's top level."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.graph.structure import read_structure
from ascendflow.graph.traverse import subgraphs_of

if TYPE_CHECKING:
    from pathlib import Path

    import onnx


class Produced(NamedTuple):
    """One output of one node.

    Attributes:
        tensor: its name.
        node: the node's name; where it has none, the tensor's.
        op_type: the node's operator.
        inputs: what the node reads, outer tensors of its sub-graphs included.
    """

    tensor: str
    node: str
    op_type: str
    inputs: tuple[str, ...]


class Outline(NamedTuple):
    """A graph's top level.

    Attributes:
        produced: every node output, in graph order.
        with_subgraphs: names of nodes whose bodies are not outlined (If, Loop, Scan).
    """

    produced: tuple[Produced, ...]
    with_subgraphs: tuple[str, ...]


def outline(path: Path) -> Outline:
    """Outline an ONNX file; its weights are not read."""
    nodes = read_structure(path).model.graph.node
    produced = []
    for node in nodes:
        inputs = tuple(read_by(node))
        produced += [
            Produced(name, label(node), node.op_type, inputs)
            for name in node.output
            if name
        ]
    holders = (label(node) for node in nodes if next(subgraphs_of(node), None) is not None)
    return Outline(tuple(produced), tuple(holders))


def label(node: onnx.NodeProto) -> str:
    """Name a node for people: its name, else its first output, which is unique too."""
    return node.name or next((name for name in node.output if name), node.op_type)


def read_by(node: onnx.NodeProto) -> dict[str, None]:
    """Name what a node reads, in order, once; what its bodies capture too."""
    names = dict.fromkeys(name for name in node.input if name)
    for body in subgraphs_of(node):
        names |= _captured(body)
    return names


def _captured(graph: onnx.GraphProto) -> dict[str, None]:
    """Name what a body reads and does not make itself: tensors of the graphs around it."""
    own = {value.name for value in graph.input}
    own |= {tensor.name for tensor in graph.initializer}
    own |= {tensor.values.name for tensor in graph.sparse_initializer}
    outer: dict[str, None] = {}
    for node in graph.node:
        outer |= {name: None for name in read_by(node) if name not in own}
        own.update(node.output)
    # A body may hand an outer tensor straight through.
    return outer | {value.name: None for value in graph.output if value.name not in own}
