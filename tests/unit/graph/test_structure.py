"""Reading a graph without its weights, against protobuf's own reading of all of it."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError
from onnx import helper, numpy_helper

from ascendflow.graph.dump import every_tensor
from ascendflow.graph.external_data import SMALL
from ascendflow.graph.structure import read_structure

if TYPE_CHECKING:
    from pathlib import Path

FLOAT = onnx.TensorProto.FLOAT


def model(*weights: onnx.TensorProto) -> onnx.ModelProto:
    """Adds each weight, all of 256 x 256, to its input."""
    names = ["x", *(f"y{index}" for index, _ in enumerate(weights))]
    nodes = [
        helper.make_node("Add", [names[index], weight.name], [names[index + 1]])
        for index, weight in enumerate(weights)
    ]
    ends = [helper.make_tensor_value_info(n, FLOAT, [256, 256]) for n in ("x", names[-1])]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], list(weights))
    opset = [helper.make_opsetid("", 15)]
    return helper.make_model(graph, opset_imports=opset, producer_name="é" * 300)


def weight(name: str, *, typed: bool = False) -> onnx.TensorProto:
    rng = np.random.default_rng(len(name))
    values = rng.standard_normal((256, 256)).astype(np.float32)
    if typed:
        return helper.make_tensor(name, FLOAT, values.shape, values.ravel().tolist())
    return numpy_helper.from_array(values, name)


def saved(proto: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(model(weight("w"), weight("second")), id="raw"),
        pytest.param(model(weight("w", typed=True), weight("second")), id="typed-fields"),
        pytest.param(model(), id="no-weights"),
    ],
)
def test_structure_and_weights_are_together_what_protobuf_reads(
    proto: onnx.ModelProto, tmp_path: Path
) -> None:
    found, embedded = read_structure(saved(proto, tmp_path))
    raw = [tensor.name for tensor in proto.graph.initializer if tensor.HasField("raw_data")]
    assert list(embedded) == raw
    assert not any(t.raw_data for t in found.graph.initializer)

    for tensor in found.graph.initializer:
        if tensor.name in embedded:
            tensor.raw_data = embedded[tensor.name].read()
    assert found == proto


def test_small_tensors_are_read_since_shapes_are_among_them(tmp_path: Path) -> None:
    proto = model()
    for name, size in (("small", SMALL - 1), ("large", SMALL)):
        proto.graph.initializer.append(
            numpy_helper.from_array(np.ones(size, np.uint8), name)
        )
    found, embedded = read_structure(saved(proto, tmp_path))

    assert list(embedded) == ["large"]
    assert found.graph.initializer[0].raw_data == b"\1" * (SMALL - 1)


def test_memory_does_not_grow_with_the_weights(tmp_path: Path) -> None:
    path = saved(model(*(weight(f"w{index}") for index in range(40))), tmp_path)
    assert path.stat().st_size > 10_000_000
    tracemalloc.start()
    try:
        read_structure(path)
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


def test_weights_inside_the_file_reach_the_segments_that_read_them(tmp_path: Path) -> None:
    weights = [weight(f"w{index}") for index in range(6)]
    path = saved(model(*weights), tmp_path)
    x = np.zeros((256, 256), np.float32)
    expected = x
    dumped = every_tensor(path, {"x": x}, threads=1)

    for tensor, (_, found) in zip(weights, dumped, strict=True):
        expected = expected + numpy_helper.to_array(tensor)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("keep", [1, 700, 1000, 100_000, 262_300])
def test_a_file_cut_short_is_the_error_that_protobuf_gives(
    keep: int, tmp_path: Path
) -> None:
    path = saved(model(weight("w")), tmp_path)
    path.write_bytes(path.read_bytes()[:keep])

    with pytest.raises(DecodeError):
        read_structure(path)


def test_what_protobuf_merges_or_skips_is_read_as_it_does(tmp_path: Path) -> None:
    one, other = model(weight("w")), onnx.ModelProto()
    other.graph.doc_string = "a second graph field"
    path = tmp_path / "m.onnx"
    for content in (one.SerializeToString() + other.SerializeToString(), b""):
        path.write_bytes(content)
        assert read_structure(path) == (onnx.load(path, load_external_data=False), {})


def test_a_field_of_a_later_onnx_is_kept(tmp_path: Path) -> None:
    content = model(weight("w")).SerializeToString()
    path = tmp_path / "m.onnx"
    # field 1000: a number, eight bytes, four bytes, text
    later = b"\xc0\x3e\x05" + b"\xc1\x3e12345678" + b"\xc5\x3e1234" + b"\xc2\x3e\x02ab"
    path.write_bytes(later + content)
    found, embedded = read_structure(path)

    assert list(embedded) == ["w"]
    assert found.SerializeToString().endswith(later)
