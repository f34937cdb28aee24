from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ascendflow.backends.emulator import artifact
from tests.emulation import convert, dump, emulate
from tests.models import F32, Spec, model, node, run

if TYPE_CHECKING:
    from pathlib import Path


def lowered(proto: onnx.ModelProto, folder: Path, **config: str) -> onnx.ModelProto:
    convert(proto, folder, **config)
    return onnx.load_from_string(artifact.read(folder / "model")[1])


def test_names_that_are_taken_already_are_not_taken_again() -> None:
    nodes = [
        node("Mul", ["x", "x"], ["y/wide"]),
        node("Mul", ["y/wide", "x"], ["y"]),
        node("Mul", ["y", "x"], ["x/fp16"]),
    ]
    outputs: list[Spec] = [("y", [2]), ("x/fp16", [2])]
    feeds = {"x": np.array([2, 3], F32)}

    tensors = dump(model(nodes, [("x", [2])], outputs), feeds)

    assert {name: tensor.tolist() for name, tensor in tensors.items()} == {
        "y/wide": [4, 9],
        "y": [8, 27],
        "x/fp16": [16, 81],
    }


def test_values_that_only_move_are_not_rounded_again(tmp_path: Path) -> None:
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Transpose", ["r"], ["t"], perm=[1, 0]),
        node("Concat", ["t", "t"], ["y"], axis=0),
    ]
    proto = model(nodes, [("x", [2, 3])], [("y", [6, 2])])

    types = [
        each.op_type
        for each in lowered(proto, tmp_path, soc_version="Ascend910B1").graph.node
    ]

    assert types == ["Cast", "Cast", "Relu", "Transpose", "Concat"]


def test_one_input_that_many_read_is_rounded_once(tmp_path: Path) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Neg", ["x"], ["b"]),
        node("Abs", ["x"], ["c"]),
    ]
    proto = model(nodes, [("x", [2])], [("a", [2]), ("b", [2]), ("c", [2])])

    types = [
        each.op_type
        for each in lowered(proto, tmp_path, soc_version="Ascend910B1").graph.node
    ]

    assert types == ["Cast", "Cast", "Relu", "Neg", "Abs"]


def test_weights_are_stored_rounded_and_only_once(tmp_path: Path) -> None:
    w = np.array([[0.1, 70000]], F32)
    proto = model([node("MatMul", ["x", "w"], ["y"])], [("x", [1, 1])], [("y", [1, 2])],
                  {"w": w})  # fmt: skip

    stored = lowered(proto, tmp_path).graph.initializer

    weights = [numpy_helper.to_array(each) for each in stored if list(each.dims) == [1, 2]]
    np.testing.assert_array_equal(weights, [[[np.float16(0.1), 65504]]])


def test_initializers_listed_as_inputs_are_still_rounded_at_compile_time(
    tmp_path: Path,
) -> None:
    proto = model([node("Mul", ["x", "k"], ["y"])], [("x", [1])], [("y", [1])],
                  {"k": np.array([0.1], F32)}, opset=9)  # fmt: skip
    proto.graph.input.append(helper.make_tensor_value_info("k", TensorProto.FLOAT, [1]))
    proto.ir_version = 3

    graph = lowered(proto, tmp_path).graph

    assert [value.name for value in graph.input] == ["x"]
    assert emulate(proto, {"x": np.ones(1, F32)})["y"].tolist() == [float(np.float16(0.1))]


def test_a_branch_over_integers_passes_through() -> None:
    def branch(name: str, number: int) -> onnx.GraphProto:
        value = helper.make_tensor_value_info(name, TensorProto.INT64, [1])
        return helper.make_graph(
            [node("Constant", [], [name], value_ints=[number])], name, [], [value]
        )

    nodes = [
        node(
            "If", ["c"], ["shape"], then_branch=branch("a", 6), else_branch=branch("b", 6)
        ),
        node("Reshape", ["x", "shape"], ["y"]),
    ]
    inputs: list[Spec] = [("c", [], TensorProto.BOOL), ("x", [2, 3])]
    feeds = {"c": np.array(True), "x": np.ones((2, 3), F32)}

    assert emulate(model(nodes, inputs, [("y", ["n"])]), feeds)["y"].shape == (6,)


def test_float16_constants_in_every_form_are_widened_exactly() -> None:
    f16 = TensorProto.FLOAT16
    third = np.array([1 / 3], np.float16)
    fill = helper.make_node(
        "ConstantOfShape", ["n"], ["f"], name="f", value=numpy_helper.from_array(third)
    )
    nodes = [
        fill,
        node("Constant", [], ["k"], value=numpy_helper.from_array(third)),
        node("Add", ["f", "k"], ["s"]),
        node("Add", ["s", "i"], ["y"]),
    ]
    constants: dict[str, np.ndarray] = {"n": np.array([1], np.int64), "i": third}
    proto = model(nodes, [("x", [1], f16)], [("y", [1], f16)], constants)

    y = emulate(proto, {"x": third}, soc_version="Ascend910B1")["y"]

    np.testing.assert_array_equal(y, (third + third) + third)


def test_an_input_that_is_an_output_comes_back_as_it_was() -> None:
    nodes = [node("Relu", ["x"], ["y"])]
    proto = model(nodes, [("x", [1])], [("y", [1]), ("x", [1])])
    x = {"x": np.array([1 + 2.0**-20], F32)}

    assert emulate(proto, x)["x"] == run(proto, x)["x"] == x["x"]
    assert emulate(proto, x)["y"] == 1
