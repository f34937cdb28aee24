"""Reads .safetensors files: 8 bytes of header length, a JSON header, then raw tensors.

The format is small enough to read with every length checked, and doing so spares users
another package. Source: the format section of the safetensors README.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    import torch

LENGTH_BYTES = 8
HEADER_LIMIT = 100_000_000
"""The format's own limit on the header, in bytes."""
_METADATA = "__metadata__"
_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """Read every tensor of a file.

    Raises:
        StageError: the header is no such header, or a tensor's dtype, shape and place do
            not agree with each other and with the file's length.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        header, start = _header(file, path.name, size)
        return {
            name: _tensor(file, f"{path.name}: tensor {name!r}", entry, start, size)
            for name, entry in header.items()
            if name != _METADATA
        }


def _header(file: BinaryIO, name: str, size: int) -> tuple[dict[str, Any], int]:
    """Return the parsed header, and where the data begins."""
    length = int.from_bytes(file.read(LENGTH_BYTES), "little")
    if size < LENGTH_BYTES or length > min(HEADER_LIMIT, size - LENGTH_BYTES):
        raise StageError(
            f"{name} ({size} bytes) is not a safetensors file, or was cut short",
            hint="a Git LFS pointer is a small text file; fetch the real one",
        )
    try:
        header = json.loads(file.read(length))
    except ValueError as error:
        raise StageError(f"{name}: the safetensors header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise StageError(f"{name}: the safetensors header is not a JSON object")
    return header, LENGTH_BYTES + length


def _tensor(file: BinaryIO, where: str, entry: Any, start: int, size: int) -> torch.Tensor:
    """Read one tensor, after holding its entry against the file."""
    import torch

    try:
        dtype, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        numbers = [begin, end, *shape]
    except (TypeError, KeyError, ValueError) as error:
        raise StageError(f"{where} has no proper dtype, shape and data_offsets") from error
    if any(type(number) is not int or number < 0 for number in numbers):
        raise StageError(f"{where} has a length or offset that is no natural number")
    if dtype not in _DTYPES:
        raise StageError(
            f"{where} is {dtype!r}, which is not supported",
            hint=f"supported: {', '.join(_DTYPES)}",
        )
    torch_dtype = getattr(torch, _DTYPES[dtype])
    want = math.prod(shape) * torch_dtype.itemsize
    if end - begin != want or start + end > size:
        raise StageError(
            f"{where} needs {want} bytes and is given {begin} to {end} "
            f"of the file's {size - start}"
        )
    if want == 0:
        return torch.empty(shape, dtype=torch_dtype)
    file.seek(start + begin)
    return torch.frombuffer(bytearray(file.read(want)), dtype=torch_dtype).reshape(shape)
