"""What a node is told to do, in a few words: attributes and shapes, never a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.graph.structure import read_structure

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

MOST_VALUES = 16
"""Longer lists, and longer texts than eight times that, may be weights or a secret."""

Attributes = dict[str, str]
Shapes = dict[str, list[int | str]]


def node_facts(path: Path) -> dict[str, tuple[Attributes, Shapes]]:
    """Return tensor -> attributes of the node that makes it, and the shapes around it.

    A graph, a tensor or a long list is named by its kind alone, and a Constant, whose
    attributes are its value, has none. A size that is open is its name; a shape that
    cannot be told from the file is left out.
    """
    import onnx

    # What it cannot infer, it leaves out.
    graph = onnx.shape_inference.infer_shapes(read_structure(path).model).graph
    known = {**_declared(graph), **{t.name: [*t.dims] for t in graph.initializer}}
    facts: dict[str, tuple[Attributes, Shapes]] = {}
    for node in graph.node:
        attributes: Attributes = {}
        if node.op_type != "Constant":
            attributes = {each.name: _spelled(each) for each in node.attribute}
        around = (*node.input, *node.output)
        shapes = {name: known[name] for name in around if name in known}
        facts |= dict.fromkeys(filter(None, node.output), (attributes, shapes))
    return facts


def _declared(graph: onnx.GraphProto) -> Shapes:
    return {
        value.name: [
            size.dim_value if size.HasField("dim_value") else size.dim_param or "?"
            for size in value.type.tensor_type.shape.dim
        ]
        for value in (*graph.input, *graph.value_info, *graph.output)
        if value.type.tensor_type.HasField("shape")
    }


def _spelled(attribute: onnx.AttributeProto) -> str:
    import onnx

    kind: str = onnx.AttributeProto.AttributeType.Name(attribute.type)
    value: Any = onnx.helper.get_attribute_value(attribute)
    if kind == "STRING":
        text: str = value.decode(errors="replace")
        return text if len(text) <= 8 * MOST_VALUES else kind
    values = [value] if kind in ("INT", "FLOAT") else value
    if kind not in ("INT", "FLOAT", "INTS", "FLOATS") or len(values) > MOST_VALUES:
        return kind
    told = [f"{each:.9g}" if isinstance(each, float) else str(each) for each in values]
    return f"[{', '.join(told)}]" if kind.endswith("S") else told[0]
