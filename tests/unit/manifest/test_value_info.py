"""What is read without onnx, held to what onnx reads."""

from __future__ import annotations

import mmap
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from onnx import ModelProto, TensorProto, TypeProto, ValueInfoProto, helper

from ascendflow import vocabulary
from ascendflow.errors import UsageError
from ascendflow.manifest.onnx_file import model_inputs
from ascendflow.manifest.value_info import ELEMENT_TYPES, Declared, declared, name_of
from ascendflow.wire import LENGTH, Field

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def written(content: bytes, path: Path) -> Iterator[tuple[mmap.mmap, Field]]:
    path.write_bytes(content + b"\0")  # a file of no bytes cannot be mapped
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        yield data, Field(1, LENGTH, 0, 0, len(content), 0)


def by_onnx(value: ValueInfoProto, path: Path) -> Declared | None:
    model = ModelProto()
    model.graph.input.add().CopyFrom(value)
    try:
        (found,) = model_inputs(path, model)
    except UsageError:
        return None
    return Declared(found.dtype, found.shape)


def by_us(content: bytes, path: Path) -> Declared | None:
    with written(content, path) as (data, field):
        try:
            return declared(data, field)
        except ValueError:
            return None


def tensor(*shape: int | str | None, element: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info("x", element, shape)


def without_dtype() -> ValueInfoProto:
    value = tensor(1)
    value.type.tensor_type.ClearField("elem_type")
    return value


VALUES = {
    "sizes and names": tensor(1, "n", None, 0, 1 << 40),
    "minus one": tensor(-1, 3),
    "a scalar": tensor(),
    "of unknown rank": helper.make_tensor_value_info("x", TensorProto.INT64, None),
    "no type": ValueInfoProto(name="x"),
    "an empty type": ValueInfoProto(name="x", type=TypeProto()),
    "no element type": without_dtype(),
    "a sequence": helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [1]),
    "an optional": helper.make_value_info(
        "x", helper.make_optional_type_proto(tensor(1).type)
    ),
    "a map": helper.make_value_info(
        "x", helper.make_map_type_proto(TensorProto.INT64, tensor(1).type)
    ),
    "a sparse tensor": helper.make_sparse_tensor_value_info("x", TensorProto.FLOAT, [1]),
    "a text beside": helper.make_tensor_value_info("x", TensorProto.FLOAT, [1], "text"),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_is_read_as_onnx_reads_it(value: ValueInfoProto, tmp_path: Path) -> None:
    content = value.SerializeToString()

    assert by_us(content, tmp_path / "x") == by_onnx(value, tmp_path / "x")


@pytest.mark.parametrize("element", TensorProto.DataType.values())
def test_every_element_type_is_read_as_onnx_reads_it(element: int, tmp_path: Path) -> None:
    value = tensor(2, element=element)

    assert by_us(value.SerializeToString(), tmp_path / "x") == by_onnx(
        value, tmp_path / "x"
    )


def test_every_type_of_the_manifest_is_known() -> None:
    assert set(ELEMENT_TYPES.values()) == set(vocabulary.DTYPES)


def test_cut_anywhere_it_is_refused_or_read_as_onnx_reads_it(tmp_path: Path) -> None:
    content = tensor(1, "batch", 64).SerializeToString()
    for stop in range(len(content)):
        value = ValueInfoProto()
        try:
            value.ParseFromString(content[:stop])
        except Exception:  # noqa: BLE001  protobuf's own kinds
            assert by_us(content[:stop], tmp_path / "x") is None
        else:
            assert by_us(content[:stop], tmp_path / "x") == by_onnx(value, tmp_path / "x")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(tensor(1).SerializeToString() * 2, id="merged"),
        pytest.param(
            b"\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x10\x05", id="a number as name"
        ),
        pytest.param(b"\x10\x01", id="a number as type"),
    ],
)
def test_what_protobuf_would_make_something_of_is_refused(
    content: bytes, tmp_path: Path
) -> None:
    assert by_us(content, tmp_path / "x") is None


@pytest.mark.parametrize(("content", "name"), [(b"\x0a\x02ab", "ab"), (b"\x12\0", "")])
def test_a_name_is_read(content: bytes, name: str, tmp_path: Path) -> None:
    with written(content, tmp_path / "x") as (data, field):
        assert name_of(data, field) == name


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x0a\x01\xff", "codec can't decode"),
        (b"\x08\x01", "field 1 is no text"),
        (b"\x0a\x01a\x0a\x01b", "field 1 stands twice"),
    ],
)
def test_a_name_that_is_no_text_is_refused(
    content: bytes, why: str, tmp_path: Path
) -> None:
    with (
        written(content, tmp_path / "x") as (data, field),
        pytest.raises(ValueError, match=why),
    ):
        name_of(data, field)
