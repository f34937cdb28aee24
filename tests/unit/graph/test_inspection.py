"""What is told of an ONNX file, and which files are none."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from ascendflow import vocabulary
from ascendflow.errors import StageError
from ascendflow.graph.inspection import inspect_onnx
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path


def branching() -> onnx.ModelProto:
    """An If whose branches hold a node each, a weight of 2 MB, and one of 4 bits."""
    inner = helper.make_graph(
        [node("Relu", ["x"], ["r"])],
        "inner",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, [1])],
    )
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
    ]
    proto = model(
        nodes,
        [("x", [1, 1024])],
        [("y", [1])],
        {"w": np.ones((1024, 512), F32), "c": np.array(True)},
    )
    proto.graph.initializer.append(
        TensorProto(name="q", data_type=TensorProto.INT4, dims=[3], raw_data=b"\x11\x01")
    )
    proto.graph.initializer.append(numpy_helper.from_array(np.array([b"ab", b"c"], object)))
    return proto


def told(proto: onnx.ModelProto, path: Path) -> Any:
    onnx.save(proto, path)
    found = inspect_onnx(path)
    assert found["size"] == path.stat().st_size
    assert found["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def test_weights_and_operators_are_counted_wherever_they_are(tmp_path: Path) -> None:
    proto = branching()
    proto.producer_name, proto.producer_version = "pytorch", "2.13"
    proto.opset_import.append(helper.make_opsetid("com.own", 3))

    found = told(proto, tmp_path / "m.onnx")["onnx"]

    assert found["operators"] == {"If": 1, "MatMul": 1, "Relu": 2}
    assert found["initializers"] == 4
    assert found["initializer_bytes"] == 1024 * 512 * 4 + 1 + 2 + 3
    assert found["external_files"] == []
    assert found["producer"] == "pytorch 2.13"
    assert found["opsets"] == {"ai.onnx": 17, "com.own": 3}
    assert found["ir_version"] == proto.ir_version


def test_inputs_are_those_that_are_fed_with_their_dimensions(tmp_path: Path) -> None:
    shape: list[int | str] = [1, "n"]
    proto = model([node("Relu", ["x"], ["y"])], [("x", shape)], [("y", [1])])
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    dims.add()
    weight = numpy_helper.from_array(np.ones(2, F32), "w")
    proto.graph.initializer.append(weight)
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2]))
    proto.graph.input.append(helper.make_tensor_value_info("u", TensorProto.BFLOAT16, None))
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
    sequence = helper.make_sequence_type_proto(kind)
    proto.graph.output.append(helper.make_value_info("s", sequence))

    found = told(proto, tmp_path / "m.onnx")

    ends = [(each["name"], each["dtype"], each["shape"]) for each in found["inputs"]]
    assert ends == [("x", "float32", [1, "n", None]), ("u", "bfloat16", None)]
    assert [each["size"] for each in found["inputs"]] == [None, None]
    assert [(each["name"], each["dtype"], each["size"]) for each in found["outputs"]] == [
        ("y", "float32", 4),
        ("s", "sequence", None),
    ]


def test_tensors_that_nodes_hold_are_counted_too(tmp_path: Path) -> None:
    """A file whose weights are all in Constant nodes is not one of 0 bytes."""
    held = np.arange(300, dtype=np.int64).reshape(3, 100)
    nodes = [
        node("Constant", [], ["w"], value=numpy_helper.from_array(held)),
        node("Constant", [], ["s"], value_float=1.0),
        node("Add", ["x", "w"], ["y"]),
    ]
    i64 = TensorProto.INT64
    proto = model(nodes, [("x", [3, 100], i64)], [("y", [3, 100], i64)])

    found = told(proto, tmp_path / "m.onnx")

    assert (found["onnx"]["initializers"], found["onnx"]["initializer_bytes"]) == (0, 0)
    assert (found["onnx"]["constants"], found["onnx"]["constant_bytes"]) == (1, held.nbytes)
    assert found["inputs"][0]["size"] == held.nbytes


def test_external_weights_are_counted_and_need_not_be_there(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(branching(), path, save_as_external_data=True, location="w.data")
    (tmp_path / "w.data").unlink()

    found = inspect_onnx(path, digests=False)

    assert found["sha256"] is None
    assert found["onnx"] is not None
    assert found["onnx"]["external_files"] == ["w.data"]
    assert found["onnx"]["external_bytes"] == 1024 * 512 * 4


def test_text_that_is_not_utf8_is_spelled_out(tmp_path: Path) -> None:
    proto = model([node("Relu", ["x"], ["y"])], [("x", [1])], [("y", [1])])
    proto.producer_name = "NNNN"
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString().replace(b"NNNN", b"\xffa\x00b"))

    found = inspect_onnx(path)

    assert found["onnx"] is not None
    assert found["onnx"]["producer"] == "\\xffa\x00b"


GRAPH_ONLY_HALF = b"\x08\x08" + b"\x3a\x05abc"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(
            b"{}",
            r"is not an ONNX file, .*: it has 2 bytes; .* wire type 3, at byte 0",
            id="text",
        ),
        pytest.param(b"\x08\x08", "it holds no graph", id="no-graph"),
        pytest.param(GRAPH_ONLY_HALF, "5 bytes is cut short: 3 are left", id="cut"),
        pytest.param(
            b"\x3a\x02\x0a\x7f",
            "not an ONNX file, or was cut short: it has 4",
            id="graph-damaged",
        ),
        pytest.param(b"\x08\x08" * 100_001, "more than 100000 parts", id="parts"),
    ],
)
def test_a_file_that_is_no_onnx_is_told_why(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)

    with pytest.raises(StageError, match=reason):
        inspect_onnx(path)


@pytest.mark.parametrize("size", [1 << 40, vocabulary.ONNX_FILE_LIMIT - 1])
def test_a_huge_file_of_nothing_is_refused_without_being_read(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "m.onnx"
    path.touch()
    os.truncate(path, size)

    with pytest.raises(StageError, match=r"less than 2 GiB|the number 0, at byte 0"):
        inspect_onnx(path, digests=False)
