"""`model.emu`: the lowered graph, and what it stands for.

Layout: MAGIC, format version (uint32), header length (uint64), both little-endian; the
header, JSON; then the ONNX file. Nothing here looks like an OM, which begins with "IMOD".
Weights of a large model lie beside it, in `model.emu.data`, as ONNX external data.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path

    import onnx_ir as ir

MAGIC = b"ASCENDFLOW-EMU\0"
FORMAT = 2
FILE = "model.emu"
WEIGHTS = "model.emu.data"
ALTERNATIVE = "alternative"
"""Folder beside them with another such artifact: the other thing that CANN may compute."""
EMBEDDED_BYTES = 1 << 20
"""Weights in sum larger than this lie beside the file, where onnxruntime maps them."""

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
    weights = _write_weights(folder, model) if beside else None
    onnx_bytes = ir.to_proto(model).SerializeToString(deterministic=True)
    full = {
        **header,
        "weights": weights,
        "onnx": _described(io.BytesIO(onnx_bytes)),
    }
    text = json.dumps(full, sort_keys=True, allow_nan=False).encode()
    with (folder / FILE).open("wb") as file:
        file.write(MAGIC + _PREFIX.pack(FORMAT, len(text)) + text)
        file.write(onnx_bytes)


def read(folder: Path) -> tuple[dict[str, Any], bytes]:
    """Read the header and the ONNX bytes; check the weights where they lie beside.

    Raises:
        StageError: a file is missing, no emulator artifact, of another format, cut short
            or damaged.
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
    _check(FILE, "graph", io.BytesIO(onnx_bytes), header["onnx"])
    if header["weights"]:
        weights = folder / WEIGHTS
        if not weights.is_file():
            raise StageError(f"{WEIGHTS} is missing beside {FILE}")
        with weights.open("rb") as file:
            _check(WEIGHTS, "weights", file, header["weights"])
    return header, onnx_bytes


def _described(file: io.BytesIO | io.BufferedReader) -> dict[str, Any]:
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"size": file.seek(0, io.SEEK_END), "sha256": digest}


def _check(
    name: str, what: str, file: io.BytesIO | io.BufferedReader, said: dict[str, Any]
) -> None:
    found = _described(file)
    if found["size"] != said["size"]:
        raise StageError(
            f"{name} is cut short: {found['size']} bytes of {what}, "
            f"header says {said['size']}"
        )
    if found["sha256"] != said["sha256"]:
        raise StageError(
            f"{name} is damaged: its {what} hashes to {found['sha256']}, "
            f"header says {said['sha256']}"
        )


def _write_weights(folder: Path, model: ir.Model) -> dict[str, Any]:
    """Write weights to the file beside, one at a time, and leave references to them.

    Returns:
        Size and digest of the file.
    """
    import onnx_ir as ir

    digest = hashlib.sha256()
    with (folder / WEIGHTS).open("wb") as file:
        for value in model.graph.initializers.values():
            tensor = value.const_value
            if tensor is None or tensor.nbytes < _SMALL_BYTES:
                continue
            padding = b"\0" * (-file.tell() % _ALIGNMENT)
            offset = file.tell() + len(padding)
            for part in (padding, tensor.tobytes()):
                file.write(part)
                digest.update(part)
            value.const_value = ir.ExternalTensor(
                WEIGHTS,
                offset,
                file.tell() - offset,
                tensor.dtype,
                shape=ir.Shape(tensor.shape.numpy()),
                name=str(value.name),
                base_dir=folder,
            )
        return {"size": file.tell(), "sha256": digest.hexdigest()}
