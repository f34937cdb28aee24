"""What an ONNX file declares of an input or output, read without the package onnx.

To import that takes as long as all else that is done to load a manifest. Strict: what
protobuf would merge, or read in an order, is refused. Source: onnx/onnx.proto.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.wire import LENGTH, NUMBER, Field, signed, walk

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

ELEMENT_TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    16: "bfloat16",
}
"""TensorProto.DataType -> numpy's name, or ml_dtypes'."""

NAME, TYPE = 1, 2
TENSOR_TYPE = 1
ELEMENT_TYPE, SHAPE = 1, 2
DIM = 1
DIM_VALUE, DIM_PARAM = 1, 2


class Declared(NamedTuple):
    """A tensor as the file declares it; its shape as `ModelInput`'s."""

    dtype: str
    shape: tuple[int | str | None, ...] | None


def name_of(data: mmap.mmap, message: Field, number: int = NAME) -> str:
    """Return a message's name, "" if it has none.

    Raises:
        ValueError: it is malformed, or no UTF-8.
    """
    return _text(data, _only(data, message, number))


def declared(data: mmap.mmap, value: Field) -> Declared:
    """Return what a ValueInfoProto says of its tensor.

    Raises:
        ValueError: it is malformed, or of no tensor with a known element type.
    """
    tensor = _inside(data, _inside(data, value, TYPE), TENSOR_TYPE)
    element, shape = (_only(data, tensor, number) for number in (ELEMENT_TYPE, SHAPE))
    if element is None or element.wire != NUMBER or element.value not in ELEMENT_TYPES:
        raise ValueError("no known element type")
    dtype = ELEMENT_TYPES[element.value]
    if shape is None:
        return Declared(dtype, None)
    dims = [each for each in _walk(data, shape) if each.number == DIM]
    return Declared(dtype, tuple(_size(data, dim) for dim in dims))


def _size(data: mmap.mmap, dim: Field) -> int | str | None:
    fixed, named = (_only(data, dim, number) for number in (DIM_VALUE, DIM_PARAM))
    if fixed is None:
        return _text(data, named) or None
    if named is not None or fixed.wire != NUMBER:
        raise ValueError("a dimension is a number and a name")
    # Exporters write -1 for "unknown"; the format has no such size.
    size = signed(fixed.value)
    return size if size >= 0 else None


def _inside(data: mmap.mmap, message: Field, number: int) -> Field:
    if (found := _only(data, message, number)) is None:
        raise ValueError(f"there is no field {number}")
    return found


def _only(data: mmap.mmap, message: Field, number: int) -> Field | None:
    """Return the field of a number, None where there is none."""
    found = [each for each in _walk(data, message) if each.number == number]
    if len(found) > 1:
        raise ValueError(f"field {number} stands twice")
    return found[0] if found else None


def _walk(data: mmap.mmap, message: Field) -> Iterator[Field]:
    if message.wire != LENGTH:
        raise ValueError(f"field {message.number} is no message")
    return walk(data, message.content, message.stop)


def _text(data: mmap.mmap, field: Field | None) -> str:
    if field is None:
        return ""
    if field.wire != LENGTH:
        raise ValueError(f"field {field.number} is no text")
    return data[field.content : field.stop].decode()
