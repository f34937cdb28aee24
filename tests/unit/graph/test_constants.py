from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from ascendflow.graph.constants import READ_UNASKED, unread
from ascendflow.graph.load import load_model
from tests.emulation import target
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path


def chain(folder: Path, layers: int, side: int) -> Path:
    """Write `layers` MatMuls of side x side weights, in a sparse file beside the model."""
    nodes, tensors, last = [], [], "x"
    for k in range(layers):
        nodes.append(node("MatMul", [last, f"w{k}"], [f"y{k}"]))
        last = f"y{k}"
        tensor = onnx.TensorProto(name=f"w{k}", dims=[side, side], data_type=1)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        size = side * side * 4
        for key, value in (("location", "w"), ("offset", k * size), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        tensors.append(tensor)
    shapes = [("x", [1, side])], [(last, [1, side])]
    proto = model([node("Relu", ["x"], [last])], *shapes)
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    proto.graph.initializer.extend(tensors)
    with (folder / "w").open("wb") as file:
        file.truncate(layers * side * side * 4)
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    return folder / "model.onnx"


def test_linting_a_gibibyte_of_weights_takes_less_than_a_second(tmp_path: Path) -> None:
    path = chain(tmp_path, layers=64, side=2048)
    start = time.process_time()  # what others make this process wait for is not in it

    loaded = load_model(path)
    found = list(lint(loaded, Target.of(target())))

    assert time.process_time() - start < 1
    assert found == []
    assert [value.name for value in unread(loaded)] == [f"w{k}" for k in range(64)]


@pytest.mark.parametrize(("extra", "listed"), [(0, []), (1, ["k"])])
def test_the_limit_is_a_size_in_external_data(
    tmp_path: Path, extra: int, listed: list[str]
) -> None:
    constants = {
        "k": np.zeros(READ_UNASKED // 4 + extra, F32),
        "inside": np.zeros(1, F32),
    }
    nodes = [node("Mul", ["k", "inside"], ["m"]), node("Add", ["x", "m"], ["y"])]
    shape = [constants["k"].size]
    proto = model(nodes, [("x", shape)], [("y", shape)], constants)
    path = tmp_path / "model.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="w", size_threshold=1024)

    assert [value.name for value in unread(load_model(path))] == listed


def test_nothing_inside_the_file_is_left_unread(tmp_path: Path) -> None:
    k = np.zeros(READ_UNASKED // 4 + 1, F32)
    nodes = [node("Add", ["x", "k"], ["y"])]
    proto = model(nodes, [("x", [k.size])], [("y", [k.size])], {"k": k})
    onnx.save(proto, tmp_path / "model.onnx")

    assert unread(load_model(tmp_path / "model.onnx")) == []
