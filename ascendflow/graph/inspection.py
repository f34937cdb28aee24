"""An ONNX file as the document that `inspect` prints."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import islice
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING

from ascendflow import vocabulary
from ascendflow.documents.sizes import bytes_of
from ascendflow.errors import StageError
from ascendflow.graph.io_spec import dtype_name
from ascendflow.graph.structure import read_structure
from ascendflow.graph.text import spelled
from ascendflow.graph.traverse import attribute_tensors, every_node, initializers
from ascendflow.manifest.onnx_file import NO_ONNX_HINT, no_onnx
from ascendflow.wire import LENGTH, MalformedError, walk

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

    from ascendflow.documents.inspection import (
        InspectedTensor,
        Inspection,
        OnnxContents,
    )

_GRAPH = 7
"""ModelProto's field."""
_MOST_FIELDS = 100_000
"""Outermost fields: a few, a model's metadata and functions."""


def inspect_onnx(path: Path, *, digests: bool = True) -> Inspection:
    """Read an ONNX file; its weights are counted, and read for the digest alone.

    Raises:
        StageError: it is no ONNX file.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    model = _read(path, size)
    inputs, outputs = ends(model)
    return {
        "schema_version": 1,
        "kind": "onnx",
        "file": path.name,
        "size": size,
        "sha256": _sha256(path) if digests else None,
        "normalised_sha256": None,
        "inputs": inputs,
        "outputs": outputs,
        "om": None,
        "onnx": contents(model),
        "emulated": None,
    }


def ends(model: onnx.ModelProto) -> tuple[list[InspectedTensor], list[InspectedTensor]]:
    """Return inputs, initializers among them left out, and outputs."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [_tensor(each) for each in model.graph.input if each.name not in weights]
    return inputs, [_tensor(each) for each in model.graph.output]


def contents(model: onnx.ModelProto) -> OnnxContents:
    """Count what a model has; large weights may have been left out of it."""
    producer = f"{spelled(model.producer_name)} {spelled(model.producer_version)}".strip()
    counts = Counter(
        ".".join(spelled(part) for part in (node.domain, node.op_type) if part)
        for node in every_node(model)
    )
    sizes = [(_stored_bytes(tensor), tensor) for tensor in initializers(model)]
    constants = [(_stored_bytes(tensor), tensor) for tensor in attribute_tensors(model)]
    outside = [(size, each) for size, each in (*sizes, *constants) if each.external_data]
    files = {
        spelled(entry.value)
        for _, tensor in outside
        for entry in tensor.external_data
        if entry.key == "location"
    }
    return {
        "ir_version": model.ir_version,
        "producer": producer,
        "opsets": {
            spelled(each.domain) or "ai.onnx": each.version for each in model.opset_import
        },
        "functions": len(model.functions),
        "initializers": len(sizes),
        "initializer_bytes": sum(size for size, _ in sizes),
        "constants": len(constants),
        "constant_bytes": sum(size for size, _ in constants),
        "external_bytes": sum(size for size, _ in outside),
        "external_files": sorted(files),
        "operators": dict(sorted(counts.items())),
    }


def _read(path: Path, size: int) -> onnx.ModelProto:
    from google.protobuf.message import DecodeError

    if size >= vocabulary.ONNX_FILE_LIMIT:
        raise StageError(f"{path}: has {size} bytes; an ONNX file holds less than 2 GiB")
    try:
        if (reason := _why_no_model(path)) is not None:
            raise StageError(f"{path}: is no ONNX file: {reason}")
        return read_structure(path).model
    except (MalformedError, DecodeError) as error:
        text = f"{no_onnx(str(path), size)}; {error}"
        raise StageError(text, hint=NO_ONNX_HINT) from error


def _why_no_model(path: Path) -> str | None:
    """Return why the outermost layer is not that of a model, before protobuf reads all.

    Raises:
        MalformedError: it is no message at all.
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        found = list(islice(walk(data, 0, len(data)), _MOST_FIELDS + 1))
    if len(found) > _MOST_FIELDS:
        return f"it has more than {_MOST_FIELDS} parts"
    if not any(field.number == _GRAPH and field.wire == LENGTH for field in found):
        return "it holds no graph"
    return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tensor(value: onnx.ValueInfoProto) -> InspectedTensor:
    kind = value.type.WhichOneof("value")
    if kind == "tensor_type":
        dtype = dtype_name(value.type.tensor_type.elem_type) or "undefined"
    else:
        dtype = (kind or "unknown").removesuffix("_type")
    shape: list[int | str | None] | None = None
    if kind == "tensor_type" and value.type.tensor_type.HasField("shape"):
        shape = [_size(dim) for dim in value.type.tensor_type.shape.dim]
    return {
        "name": spelled(value.name),
        "dtype": dtype,
        "shape": shape,
        "format": None,
        "size": bytes_of(dtype, shape),
        "ranges": [],
        "aipp_shape": None,
    }


def _size(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.WhichOneof("value") == "dim_value":
        return int(dim.dim_value)
    return spelled(dim.dim_param) or None


def _stored_bytes(tensor: onnx.TensorProto) -> int:
    """Return what the tensor's elements take, its texts' bytes where it has texts."""
    size = bytes_of(dtype_name(tensor.data_type) or "", tensor.dims)
    return sum(map(len, tensor.string_data)) if size is None else size
