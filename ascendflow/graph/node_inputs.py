"""What is wrong with a node's inputs and no checker of ONNX says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.io_spec import opset_of
from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.outline import label
from ascendflow.graph.traverse import every_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx

MOST_INPUTS = 8192
"""Of one node: what edits its inputs takes time that grows with their square, here 2 s."""


def why_not_these(model: onnx.ModelProto) -> Iterator[str]:
    """Say of each node which input it leaves out and needs, or that it has too many."""
    version = opset_of(model)
    for node in every_node(model):
        if (given := len(node.input)) > MOST_INPUTS:
            yield f"{_called(node)} has {given} inputs, of at most {MOST_INPUTS}"
        if "" in node.input and node.domain in DEFAULT_DOMAINS and version is not None:
            yield from _left_out(node, version)


def _left_out(node: onnx.NodeProto, version: int) -> Iterator[str]:
    """Say what is missing: of a variadic operator ONNX's checker does not.

    onnxruntime ends the process over `Max(x, "")`.
    """
    import onnx

    try:
        formal = onnx.defs.get_schema(node.op_type, version, "").inputs
    except (onnx.defs.SchemaError, TypeError):
        return  # no known operator, which others say
    optional = onnx.defs.OpSchema.FormalParameterOption.Optional
    last = len(formal) - 1
    missing = {
        at: formal[min(at, last)].name
        for at, name in enumerate(node.input)
        if formal and not name and formal[min(at, last)].option != optional
    }
    if missing:
        names = ", ".join(map(repr, dict.fromkeys(missing.values())))
        yield (
            f"{_called(node)} leaves out input {', '.join(map(str, missing))} of "
            f"{len(node.input)}: {names} cannot be left out"
        )


def _called(node: onnx.NodeProto) -> str:
    return f"node {label(node)!r} ({node.op_type})"
