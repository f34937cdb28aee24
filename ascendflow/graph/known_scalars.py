"""The constant bool and int64 scalars of an ONNX graph, before anything runs it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ascendflow.graph.external_data import is_external
from ascendflow.graph.traverse import every_graph, every_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx


def known_scalars(model: onnx.ModelProto) -> dict[str, int]:
    """Return them by name, malformed ones left out.

    Graphs side by side may each have a tensor of one name: it is known where all agree.
    """
    found: defaultdict[str, set[int | None]] = defaultdict(set)
    for graph in every_graph(model):
        for tensor in graph.initializer:
            found[tensor.name].add(_scalar(tensor))
        held = {tensor.name for tensor in graph.initializer}
        for value in graph.input:
            if value.name not in held:
                found[value.name].add(None)
    for function in model.functions:
        for name in function.input:
            found[name].add(None)
    for node in every_node(model):
        for name in node.output:
            found[name].add(next(_made_by(node), None))
    return {
        name: value
        for name, values in found.items()
        if len(values) == 1 and (value := next(iter(values))) is not None
    }


def _made_by(node: onnx.NodeProto) -> Iterator[int | None]:
    if node.op_type == "Constant":
        for attribute in node.attribute:
            if attribute.name == "value":
                yield _scalar(attribute.t)
            elif attribute.name == "value_int":
                yield attribute.i


def _scalar(tensor: onnx.TensorProto) -> int | None:
    import onnx

    is_one = all(length == 1 for length in tensor.dims) and _holds_one(tensor)
    if not is_one or is_external(tensor) or tensor.HasField("segment"):
        return None
    return int(onnx.numpy_helper.to_array(tensor).item())


def _holds_one(tensor: onnx.TensorProto) -> bool:
    """Return whether it is of bool or int64 and holds what one element takes."""
    import onnx

    if tensor.data_type == onnx.TensorProto.BOOL:
        return len(tensor.raw_data or tensor.int32_data) == 1
    is_int64 = tensor.data_type == onnx.TensorProto.INT64
    held = len(tensor.raw_data) == 8 if tensor.raw_data else len(tensor.int64_data) == 1
    return is_int64 and held
