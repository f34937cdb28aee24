"""`model.emu`: the lowered graph, and what it stands for.

Layout: MAGIC, format version (uint32), header length (uint64), both little-endian; the
header, JSON; then the ONNX file. Nothing here looks like an OM, which begins with "IMOD".
Weights of a large model lie beside it, in `model.emu.data`, as ONNX external data.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path

    import onnx_ir as ir

MAGIC = b"ASCENDFLOW-EMU\0"
FORMAT = 1
FILE = "model.emu"
WEIGHTS = "model.emu.data"
EMBEDDED_BYTES = 1 << 30
"""Weights in sum larger than this lie beside the file; protobuf ends at 2 GiB."""

_PREFIX = struct.Struct("<IQ")
_ALIGNMENT = 4096
_SMALL_BYTES = 1024
"""Small tensors stay embedded: shape inference needs to read sizes and axes."""


def write(folder: Path, model: ir.Model, header: dict[str, Any]) -> None:
    """Write `model` and `header` into `folder`, the same bytes for the same content."""
    import onnx_ir as ir

    folder.mkdir(parents=True, exist_ok=True)
    total = sum(
        v.const_value.nbytes for v in model.graph.initializers.values() if v.const_value
    )
    beside = total > EMBEDDED_BYTES
    if beside:
        _write_weights(folder, model)
    onnx_bytes = ir.to_proto(model).SerializeToString(deterministic=True)
    full = {
        **header,
        "external_weights": beside,
        "onnx": {"size": len(onnx_bytes), "sha256": hashlib.sha256(onnx_bytes).hexdigest()},
    }
    text = json.dumps(full, sort_keys=True, allow_nan=False).encode()
    with (folder / FILE).open("wb") as file:
        file.write(MAGIC + _PREFIX.pack(FORMAT, len(text)) + text)
        file.write(onnx_bytes)


def read(folder: Path) -> tuple[dict[str, Any], bytes]:
    """Read the header and the ONNX bytes.

    Raises:
        StageError: no such file, no emulator artifact, another format, or a cut file.
    """
    path = folder / FILE
    if not path.is_file():
        raise StageError(f"{FILE} is missing from the folder {folder.name}/")
    content = path.read_bytes()
    if not content.startswith(MAGIC):
        raise StageError(f"{FILE} is no emulator artifact: it begins with {content[:14]!r}")
    start = len(MAGIC) + _PREFIX.size
    if len(content) < start:
        raise StageError(f"{FILE} is cut short: {len(content)} bytes hold no header")
    version, length = _PREFIX.unpack(content[len(MAGIC) : start])
    if version != FORMAT:
        raise StageError(f"{FILE} has format {version}, this ascendflow reads {FORMAT}")
    if len(content) < start + length:
        raise StageError(f"{FILE} is cut short: its header of {length} bytes is not whole")
    header: dict[str, Any] = json.loads(content[start : start + length])
    onnx_bytes = content[start + length :]
    if len(onnx_bytes) != header["onnx"]["size"]:
        raise StageError(
            f"{FILE} is cut short: {len(onnx_bytes)} bytes of graph, "
            f"header says {header['onnx']['size']}"
        )
    if (found := hashlib.sha256(onnx_bytes).hexdigest()) != header["onnx"]["sha256"]:
        raise StageError(
            f"{FILE} is damaged: its graph hashes to {found}, "
            f"header says {header['onnx']['sha256']}"
        )
    return header, onnx_bytes


def _write_weights(folder: Path, model: ir.Model) -> None:
    """Write weights to the file beside, one at a time, and leave references to them."""
    import onnx_ir as ir

    with (folder / WEIGHTS).open("wb") as file:
        for value in model.graph.initializers.values():
            tensor = value.const_value
            if tensor is None or tensor.nbytes < _SMALL_BYTES:
                continue
            file.write(b"\0" * (-file.tell() % _ALIGNMENT))
            offset = file.tell()
            file.write(tensor.tobytes())
            value.const_value = ir.ExternalTensor(
                WEIGHTS,
                offset,
                file.tell() - offset,
                tensor.dtype,
                shape=ir.Shape(tensor.shape.numpy()),
                name=str(value.name),
                base_dir=folder,
            )
