from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.load import (
    give_back_shapes,
    load_model,
    load_to_look,
)
from ascendflow.graph.nodes import constant, static_shape
from ascendflow.graph.validity import without_weights
from tests.models import F32, model, node, resize_chain

if TYPE_CHECKING:
    from pathlib import Path


def test_inferred_shapes_are_lent_and_given_back(tmp_path: Path) -> None:
    proto = resize_chain("half_pixel")
    onnx.save(proto, tmp_path / "model.onnx")

    loaded = load_model(tmp_path / "model.onnx")
    lent = loaded.graph.node("u0").outputs[0].shape
    give_back_shapes(loaded)

    assert lent == (1, 3, 12, 16)
    assert ir.to_proto(loaded) == proto


def test_sizes_computed_in_the_graph_are_followed(tmp_path: Path) -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Mul", ["s", "k"], ["sizes"]),
        node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear"),
    ]
    constants = {"k": np.array([1, 1, 2, 3], np.int64)}
    proto = model(nodes, [("x", [1, 2, 4, 5])], [("y", ["a", "b", "c", "d"])], constants)
    onnx.save(proto, tmp_path / "model.onnx")

    loaded = load_model(tmp_path / "model.onnx")

    assert loaded.graph.outputs[0].shape == (1, 2, 8, 15)


def test_the_checker_gets_a_model_without_its_external_weights(tmp_path: Path) -> None:
    w = np.ones((64, 64), F32)
    proto = model(
        [node("MatMul", ["x", "w"], ["y"])], [("x", [1, 64])], [("y", [1, 64])], {"w": w}
    )
    path = tmp_path / "model.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="data", size_threshold=0)
    (tmp_path / "data").unlink()

    stripped = without_weights(onnx.load(path, load_external_data=False))

    onnx.checker.check_model(stripped)
    assert [value.name for value in stripped.graph.input] == ["x", "w"]


def test_element_type_that_onnx_has_not_is_no_readable_model(tmp_path: Path) -> None:
    proto = resize_chain("half_pixel")
    proto.graph.output[0].type.tensor_type.elem_type = -1
    onnx.save(proto, tmp_path / "model.onnx")

    with pytest.raises(StageError, match="-1 is not a valid DataType") as caught:
        load_model(tmp_path / "model.onnx")

    assert len(caught.value.message) < 200


def test_a_model_to_look_at_holds_its_weights_where_they_are(tmp_path: Path) -> None:
    """Large ones are read from the file when they are asked for; no value is lost."""
    weights = np.arange(2000, dtype=np.float32).reshape(2, 1000)
    nodes = [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["y"])]
    proto = model(
        nodes,
        [("x", [1, 2])],
        [("y", [1, 1000])],
        {"w": weights, "b": np.array(3, np.float32)},
    )
    onnx.save(proto, tmp_path / "m.onnx")

    made = load_to_look(tmp_path / "m.onnx")

    values = made.graph.initializers
    assert isinstance(values["w"].const_value, ir.ExternalTensor)
    for name, want in (("w", weights), ("b", np.array(3, np.float32))):
        found = constant(values[name])
        assert found is not None
        np.testing.assert_array_equal(found, want)
    assert static_shape(made.graph[0].outputs[0]) == (1, 1000)


@pytest.mark.parametrize("op_type", ["ConstantOfShape", "Range"])
def test_a_vector_too_long_to_be_followed_is_refused_at_once(
    tmp_path: Path, op_type: str
) -> None:
    """To follow its values onnx would make a message of each of 2^40 elements."""
    many = np.array([2**40], np.int64)
    ends = {"zero": np.array(0), "many": many[0], "one": np.array(1)}
    constants = {"many": many} if op_type == "ConstantOfShape" else ends
    made = node(op_type, list(constants), ["v"])
    proto = model(
        [made, node("Cast", ["v"], ["y"], to=onnx.TensorProto.FLOAT)],
        [("x", [1])],
        [("y", ["n"])],
        constants,
    )
    onnx.save(proto, tmp_path / "model.onnx")

    with pytest.raises(StageError, match=r"1099511627776 elements, of at most"):
        load_model(tmp_path / "model.onnx")
