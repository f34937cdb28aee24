"""Which node stumbles over the shapes that inputs were given, and over which lengths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ascendflow.graph.giants import can_follow
from ascendflow.graph.io_spec import value_spec
from ascendflow.graph.validity import why_inconsistent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

_FAULT = re.compile(
    r"\(op_type:(?P<op>[^,()]*)(?:, node name: (?P<name>.*?))?\): "
    r"\[ShapeInferenceError\] (?P<why>.*?)(?=;? \(op_type:|$)"
)


def why_misfit(light: onnx.ModelProto, before: Sequence[onnx.ValueInfoProto]) -> str | None:
    """Name the first node that the input shapes of `light` do not suit, or None.

    Args:
        light: a model with its input shapes set, and no shape declared but those.
        before: its inputs as the file declares them; what inference refuses with those
            too is not the shapes' fault.
    """
    reason = why_inconsistent(light)
    if reason is None or (fault := _FAULT.search(reason)) is None:
        return None
    declared = type(light)()
    declared.CopyFrom(light)
    del declared.graph.input[:]
    declared.graph.input.extend(before)
    if why_inconsistent(declared) is not None:
        return None
    op_type, name, why = fault["op"], fault["name"] or "", fault["why"]
    read = _read_by(light, op_type, name)
    return f"node {name!r} ({op_type}): {why}" + (f"; it reads {read}" if read else "")


def _read_by(light: onnx.ModelProto, op_type: str, name: str) -> str:
    """Spell what the node reads, with the shapes that inference knows, or ""."""
    import onnx

    inferred = onnx.shape_inference.infer_shapes(light, data_prop=can_follow(light)).graph
    shapes = {
        value.name: value_spec(value).shape
        for value in (*inferred.input, *inferred.value_info)
    }
    shapes.update((tensor.name, tuple(tensor.dims)) for tensor in inferred.initializer)
    nodes = [node for node in inferred.node if (node.op_type, node.name) == (op_type, name)]
    if len(nodes) != 1:
        return ""
    return " and ".join(
        f"{each!r} {_spelled(shapes[each])}" for each in nodes[0].input if shapes.get(each)
    )


def _spelled(shape: Sequence[int | str | None] | None) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape or ())}]"
