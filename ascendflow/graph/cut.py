"""Cuts a model at the tensors that a target is built for, so that all compare the same.

`convert.out_nodes` names them as ATC does, by `node:port` or by the tensor. What is behind
them is dropped at once: an operator there that nothing can run stands in nobody's way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ascendflow.graph.outline import read_by
from ascendflow.manifest.problems import closest_or_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import onnx

_PORT = re.compile(r"(.+):(\d{1,9})", re.ASCII)


def why_not_cut(model: onnx.ModelProto, wanted: Sequence[str]) -> Iterator[str]:
    """Say which of the names are no outputs of a node, or are one and the same."""
    first: dict[str, str] = {}
    for name in wanted:
        tensor = _tensor(model, name)
        if tensor is None:
            yield f"convert.out_nodes: {name!r} {_why_none(model, name)}"
        elif first.setdefault(tensor, name) != name:
            yield f"convert.out_nodes: {first[tensor]!r} and {name!r} are one tensor"


def cut(model: onnx.ModelProto, wanted: Sequence[str]) -> None:
    """Make `wanted` the model's outputs, in that order, and drop what they do not need.

    Args:
        model: edited in place; inputs stay, needed or not.
        wanted: names that `why_not_cut` says nothing of.
    """
    graph = model.graph
    declared = {value.name: value for value in (*graph.output, *graph.value_info)}
    outputs = [tensor for name in wanted if (tensor := _tensor(model, name)) is not None]
    kept = [_copy(declared.get(name), name) for name in outputs]
    graph.ClearField("output")
    graph.output.extend(kept)
    needed, nodes = set(outputs), []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            nodes.append(_copied(node))
            needed.update(read_by(node))
    graph.ClearField("node")
    graph.node.extend(reversed(nodes))
    _drop_constants(graph, needed)


def _tensor(model: onnx.ModelProto, name: str) -> str | None:
    """Return the tensor that a name means; a node's, before a tensor's of that name."""
    nodes = model.graph.node
    if (match := _PORT.fullmatch(name)) is not None:
        named = next((node for node in nodes if node.name == match[1]), None)
        if named is not None:
            port = int(match[2])
            return named.output[port] or None if port < len(named.output) else None
    return name if name and any(name in node.output for node in nodes) else None


def _why_none(model: onnx.ModelProto, name: str) -> str:
    match = _PORT.fullmatch(name)
    for node in model.graph.node:
        if match is not None and node.name == match[1]:
            return f"has no such port: the node has {len(node.output)} outputs"
    ports = [f"{n.name}:{i}" for n in model.graph.node for i in range(len(n.output))]
    near = closest_or_all(name, ports) if match is not None or not ports else None
    hint = "" if near is None else f"; {near}"
    return f"is neither node and port, nor a tensor that a node makes{hint}"


def _copy(value: onnx.ValueInfoProto | None, name: str) -> onnx.ValueInfoProto:
    import onnx

    copy = onnx.ValueInfoProto(name=name)
    if value is not None:
        copy.CopyFrom(value)
    return copy


def _copied(node: onnx.NodeProto) -> onnx.NodeProto:
    copy = type(node)()
    copy.CopyFrom(node)
    return copy


def _drop_constants(graph: onnx.GraphProto, needed: set[str]) -> None:
    """Drop initializers that nothing reads any more; those listed as inputs too."""
    for index in reversed(range(len(graph.initializer))):
        if graph.initializer[index].name not in needed:
            name = graph.initializer[index].name
            del graph.initializer[index]
            for place in reversed(range(len(graph.input))):
                if graph.input[place].name == name:
                    del graph.input[place]
