"""Weights that lie beside an ONNX file: found, bounded, embedded or gathered.

A location is somebody else's text. It must name a regular file inside the model's own
folder, after links are resolved, and the bytes it asks for must exist and be as many as
the tensor's dtype and dims say. Nothing is read before all of that holds.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.traverse import attribute_tensors, every_tensor, initializers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx

ALIGNMENT = 4096
"""Offsets of gathered tensors are multiples of a memory page, so they can be mapped."""
SMALL = 1024
"""Tensors of fewer bytes always stay in the ONNX file: shapes and axes, which readers of
the graph need, and scalars."""
_CHUNK = 16 << 20


@dataclass(frozen=True)
class Stored:
    """Where the bytes of one external tensor lie."""

    path: Path
    offset: int
    length: int

    def read(self) -> bytes:
        """Read the tensor's bytes."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.length)


def is_external(tensor: onnx.TensorProto) -> bool:
    """Return whether the tensor's bytes are not in the protobuf."""
    import onnx

    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def external_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield each tensor whose bytes are not in the protobuf."""
    return (tensor for tensor in every_tensor(model) if is_external(tensor))


WHOLE = (
    "put the whole file that holds the weights beside the ONNX file; a small text in its "
    "place is a Git LFS pointer: fetch the real one"
)
"""What to do where external data is missing, or is cut short."""


def dead_references(
    model: onnx.ModelProto, folder: Path, *, may_be_absent: bool = False
) -> Iterator[StageError]:
    """Say of each external tensor whose bytes cannot be had why, naming tensor and file.

    Args:
        model: its tensors.
        folder: where its file lies.
        may_be_absent: say nothing of a file that is not there at all.
    """
    for tensor in external_tensors(model):
        try:
            asked = _asked(tensor, folder)
            if not may_be_absent or os.path.lexists(asked.path):
                _refuse_lacking(tensor, asked)
        except StageError as error:
            yield error


def locate(tensor: onnx.TensorProto, folder: Path) -> Stored:
    """Find the bytes of an external tensor below `folder`, without reading them.

    Raises:
        StageError: the location leaves the folder, there is no such file, or the file
            does not hold that many bytes.
    """
    asked = _asked(tensor, folder)
    _refuse_lacking(tensor, asked)
    return asked


def _asked(tensor: onnx.TensorProto, folder: Path) -> Stored:
    """Read what the tensor says of its bytes; of the file, only links are looked at."""
    said = {entry.key: entry.value for entry in tensor.external_data}
    location = said.get("location", "")
    where = _where(tensor)
    if (reason := _why_outside(location, folder)) is not None:
        raise StageError(f"{where} {reason}")
    want = byte_size(tensor)
    offset, length = _number(said.get("offset"), 0), _number(said.get("length"), want)
    if offset is None or length is None:
        raise StageError(f"{where} has an offset or length that is no number of bytes")
    if length != want:
        raise StageError(f"{where}: length {length}, but dtype and dims need {want} bytes")
    return Stored(folder / location, offset, length)


def _refuse_lacking(tensor: onnx.TensorProto, asked: Stored) -> None:
    """Refuse a file that is none, or that does not hold the bytes that are asked for."""
    path, where, end = asked.path, _where(tensor), asked.offset + asked.length
    if not os.path.isfile(path):  # False too for a name that is too long
        # To open a pipe would wait for somebody to write to it.
        is_other = os.path.exists(path)
        what = "is no regular file" if is_other else "does not exist beside the ONNX file"
        raise StageError(f"{where} {what}", hint=None if is_other else WHOLE)
    size = path.stat().st_size
    if end > size:
        raise StageError(
            f"{where}: bytes {asked.offset} to {end} are wanted, the file has {size}",
            hint=WHOLE,
        )


def _where(tensor: onnx.TensorProto) -> str:
    said = {entry.key: entry.value for entry in tensor.external_data}
    return f"tensor {tensor.name!r}: its external data {said.get('location', '')!r}"


def embed(tensor: onnx.TensorProto, stored: Stored) -> None:
    """Move an external tensor's bytes into the protobuf."""
    import onnx

    tensor.raw_data = stored.read()
    tensor.ClearField("external_data")
    tensor.data_location = onnx.TensorProto.DEFAULT


def embed_small(model: onnx.ModelProto, folder: Path) -> None:
    """Embed the external tensors that shape inference may need the values of."""
    for tensor in external_tensors(model):
        if byte_size(tensor) < SMALL:
            embed(tensor, locate(tensor, folder))


def gather(model: onnx.ModelProto, folder: Path, target: Path) -> None:
    """Write every large initializer to the file `target`, in order, and refer to it there.

    Streams what is external already, so memory does not grow with the weights. Values in
    attributes are embedded: onnxruntime looks for external data of initializers only.

    Args:
        model: changed in place; its tensors then refer to `target`'s name.
        folder: where the model's present external data lies.
        target: the new file, of another folder than what it is gathered from.
    """
    for tensor in attribute_tensors(model):
        if is_external(tensor):
            embed(tensor, locate(tensor, folder))
    with target.open("wb") as out:
        for tensor in initializers(model):
            if byte_size(tensor) < SMALL:
                continue
            out.write(bytes(-out.tell() % ALIGNMENT))
            offset = out.tell()
            for chunk in _chunks(tensor, folder):
                out.write(chunk)
            refer(tensor, target.name, offset, out.tell() - offset)


def byte_size(tensor: onnx.TensorProto) -> int:
    """Return how many bytes the tensor's values take, packed; 0 for strings."""
    import onnx
    import onnx_ir as ir

    if tensor.data_type == onnx.TensorProto.STRING:
        return 0
    try:
        itemsize = ir.DataType(tensor.data_type).itemsize
    except (ValueError, TypeError, KeyError) as error:
        raise StageError(
            f"tensor {tensor.name!r} has the unknown data type {tensor.data_type}"
        ) from error
    size: int = math.ceil(math.prod(tensor.dims) * itemsize)
    return size


def _chunks(tensor: onnx.TensorProto, folder: Path) -> Iterator[bytes]:
    """Yield the tensor's bytes, little-endian, wherever they are."""
    if not is_external(tensor):
        yield _raw(tensor)
        return
    stored = locate(tensor, folder)
    with stored.path.open("rb") as file:
        file.seek(stored.offset)
        left = stored.length
        while left:
            chunk = file.read(min(left, _CHUNK))
            if not chunk:
                raise StageError(
                    f"tensor {tensor.name!r}: {stored.path.name} became shorter"
                )
            left -= len(chunk)
            yield chunk


def _raw(tensor: onnx.TensorProto) -> bytes:
    """Return an embedded tensor's bytes; older writers fill typed fields instead."""
    import onnx_ir as ir

    if tensor.HasField("raw_data"):
        return tensor.raw_data
    return ir.serde.deserialize_tensor(tensor).tobytes()


def refer(tensor: onnx.TensorProto, location: str, offset: int, length: int) -> None:
    """Make `tensor` external."""
    import onnx

    kept = {"name": tensor.name, "data_type": tensor.data_type, "dims": list(tensor.dims)}
    tensor.Clear()
    for field in ("name", "data_type"):
        setattr(tensor, field, kept[field])
    tensor.dims.extend(kept["dims"])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))


def _why_outside(location: str, folder: Path) -> str | None:
    """Return why `location` is no plain path inside `folder`, or None."""
    if not location:
        return "has no location"
    is_text = isinstance(location, str)  # protobuf gives bytes for what is no UTF-8
    if not is_text or not location.isprintable() or location.endswith(("/", "\\")):
        return "is no file's name"
    windows = PureWindowsPath(location)
    if PurePosixPath(location).is_absolute() or windows.drive or windows.root:
        return "is an absolute path; it must lie beside the ONNX file"
    if ".." in windows.parts:
        return "leaves the folder of the ONNX file"
    if not (folder / location).resolve().is_relative_to(folder.resolve()):
        return "is a link that leaves the folder of the ONNX file"
    return None


def _number(text: str | None, default: int) -> int | None:
    """Parse a number of bytes; None where it is none."""
    if text is None or text == "":
        return default
    return int(text) if text.isascii() and text.isdigit() else None
