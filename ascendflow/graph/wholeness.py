"""Says why a file cannot be trusted to hold what it says, before anything asks it.

`graph.refusals` says what no pipeline may start from; this is less. Whatever looks at a
graph (lint, rules, the emulator) may then read its names as text and its tensors as arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.external_data import byte_size, is_external, locate
from ascendflow.graph.text import not_utf8
from ascendflow.graph.traverse import every_tensor, subgraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import onnx


def why_not_whole(model: onnx.ModelProto, folder: Path) -> Iterator[str]:
    """Yield what is wrong; external data is looked for in `folder`, but not read."""
    if not model.HasField("graph"):
        yield "it holds no graph"
        return
    yield from not_utf8(model)
    for node in _nodes(model.graph):
        yield from _bad_attributes(node)
    for tensor in every_tensor(model):
        why = _why_no_array(tensor, folder)
        if why is not None:
            yield why


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Yield each node that is in no function."""
    for node in graph.node:
        yield node
        for inner in subgraphs_of(node):
            yield from _nodes(inner)


def _bad_attributes(node: onnx.NodeProto) -> Iterator[str]:
    """Say which attributes are no text, or refer to a function that is not there."""
    called = node.name or next(iter(node.output), "")
    for attribute in node.attribute:
        said = f"node {called!r}: its {attribute.name!r}"
        if (reference := attribute.ref_attr_name) != "":
            yield f"{said} refers to a function's {reference!r}, but it is in none"
        for text in (attribute.s, *attribute.strings):
            try:
                text.decode()
            except UnicodeDecodeError:
                yield f"{said} is not UTF-8: {text!r}"


def _why_no_array(tensor: onnx.TensorProto, folder: Path) -> str | None:
    """Return why a stored tensor cannot be read as an array, or None."""
    if min(tensor.dims, default=0) < 0:
        return f"tensor {tensor.name!r} has a length below 0: {list(tensor.dims)}"
    try:
        if is_external(tensor):
            locate(tensor, folder)
            return None
        wanted = byte_size(tensor)
    except StageError as error:
        return error.message
    if tensor.HasField("segment"):
        return f"tensor {tensor.name!r} is stored in segments, which nothing reads"
    if tensor.HasField("raw_data"):
        found = len(tensor.raw_data)
        said = f"tensor {tensor.name!r} has {found} bytes, its type and shape need {wanted}"
        return said if found != wanted else None
    return _why_typed_field_is_none(tensor)


def _why_typed_field_is_none(tensor: onnx.TensorProto) -> str | None:
    import onnx

    try:
        onnx.numpy_helper.to_array(tensor)
    except Exception as error:  # noqa: BLE001 - whatever numpy makes of a wrong count
        return f"tensor {tensor.name!r} does not hold what its shape says: {error}"
    return None
