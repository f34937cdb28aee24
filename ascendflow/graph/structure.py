"""Reads an ONNX file's graph and leaves its large weights where they are.

protobuf has no way to skip a field, so the message's outer layers are walked here.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.graph.external_data import SMALL, Stored
from ascendflow.wire import walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import onnx

    from ascendflow.wire import Field


class Structure(NamedTuple):
    """A model without its large weights.

    Attributes:
        model: all of it, but external data, and the bytes of the tensors in `embedded`.
        embedded: name of an initializer -> where in the file its bytes are.
    """

    model: onnx.ModelProto
    embedded: dict[str, Stored]


def read_structure(path: Path) -> Structure:
    """Read `path`; time and memory do not grow with its initializers.

    Raises:
        DecodeError: `path` is no ONNX file.
    """
    import onnx

    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with data:
            return _read(path, data)
    except ValueError:  # empty, cut short, or no message at all: protobuf says what it is
        return Structure(onnx.load(path, load_external_data=False), {})


def _read(path: Path, data: mmap.mmap) -> Structure:
    import onnx

    graph_number = onnx.ModelProto.DESCRIPTOR.fields_by_name["graph"].number
    fields = list(walk(data, 0, len(data)))
    graphs = [field for field in fields if field.number == graph_number]
    if len(graphs) != 1:
        raise ValueError("protobuf would merge them")
    others = (field for field in fields if field.number != graph_number)
    model = onnx.ModelProto.FromString(_joined(data, others))
    initializer_number = onnx.GraphProto.DESCRIPTOR.fields_by_name["initializer"].number
    fields = list(walk(data, graphs[0].content, graphs[0].stop))
    others = (field for field in fields if field.number != initializer_number)
    model.graph.ParseFromString(_joined(data, others))
    embedded = {}
    for field in fields:
        if field.number == initializer_number:
            tensor, raw = _tensor(data, field)
            model.graph.initializer.append(tensor)
            if raw is not None:
                size = raw.stop - raw.content
                embedded[tensor.name] = Stored(path, raw.content, size)
    return Structure(model, embedded)


def _tensor(data: mmap.mmap, field: Field) -> tuple[onnx.TensorProto, Field | None]:
    """Read one initializer; a large one without its bytes, whose field is returned."""
    import onnx

    raw_number = onnx.TensorProto.DESCRIPTOR.fields_by_name["raw_data"].number
    fields = list(walk(data, field.content, field.stop))
    raw = [f for f in fields if f.number == raw_number and f.stop - f.content >= SMALL]
    kept = fields if len(raw) != 1 else [f for f in fields if f is not raw[0]]
    tensor = onnx.TensorProto.FromString(_joined(data, kept))
    return tensor, raw[0] if len(raw) == 1 else None


def _joined(data: mmap.mmap, fields: Iterator[Field] | list[Field]) -> bytes:
    return b"".join(data[field.start : field.stop] for field in fields)
