"""Says why a file cannot be trusted to hold what it says, before anything asks it.

`graph.refusals` says what no pipeline may start from; this is less. Whatever looks at a
graph (lint, rules, the emulator) may then read its names as text and its tensors as arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.external_data import byte_size, is_external, locate
from ascendflow.graph.io_spec import value_spec
from ascendflow.graph.outline import label
from ascendflow.graph.text import not_utf8
from ascendflow.graph.traverse import every_tensor, subgraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import onnx

    from ascendflow.graph.io_spec import ValueSpec


def why_not_whole(model: onnx.ModelProto, folder: Path) -> Iterator[str]:
    """Yield what is wrong; external data is looked for in `folder`, but not read."""
    if not model.HasField("graph"):
        yield "it holds no graph"
        return
    yield from not_utf8(model)
    yield from _declared_otherwise(model.graph)
    for node in _nodes(model.graph):
        yield from _references(node)
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


def _declared_otherwise(graph: onnx.GraphProto) -> Iterator[str]:
    """Say of each input that is an output too, of another type or shape."""
    inputs = {value.name: value_spec(value) for value in graph.input}
    for output in graph.output:
        given, said = inputs.get(output.name), value_spec(output)
        if given is not None and _exclude(given, said):
            yield (
                f"output {output.name!r} is declared {_told(said)}, the input of that name "
                f"{_told(given)}"
            )


def _exclude(one: ValueSpec, other: ValueSpec) -> bool:
    """Return whether no tensor can be as both declarations say."""
    if one.dtype and other.dtype and one.dtype != other.dtype:
        return True
    if one.shape is None or other.shape is None:
        return False
    pairs = list(zip(one.shape, other.shape, strict=False))
    fixed = ((a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int))
    return len(one.shape) != len(other.shape) or any(a != b for a, b in fixed)


def _told(spec: ValueSpec) -> str:
    lengths = None if spec.shape is None else list(spec.shape)
    return f"{spec.dtype} {lengths}"


def _references(node: onnx.NodeProto) -> Iterator[str]:
    """Say which attributes refer to a function that is not there."""
    for attribute in node.attribute:
        if (reference := attribute.ref_attr_name) != "":
            said = f"node {label(node)!r}: its {attribute.name!r}"
            yield f"{said} refers to a function's {reference!r}, but it is in none"


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
