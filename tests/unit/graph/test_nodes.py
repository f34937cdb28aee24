from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from ascendflow.graph.nodes import constant, label, length_along, opset, static_shape
from tests.models import F32, model, node


def test_a_node_without_a_name_is_called_by_its_output() -> None:
    value = ir.Value(name="y")

    assert label(ir.Node("", "Relu", [], outputs=[value])) == "y"
    assert label(ir.Node("", "Relu", [], name="relu")) == "relu"


def test_the_opset_is_the_one_declared_for_the_domain() -> None:
    loaded = ir.from_proto(
        model([node("Relu", ["x"], ["y"])], [("x", [1])], [("y", [1])], opset=13)
    )

    assert opset(next(iter(loaded.graph)), loaded) == 13
    assert opset(ir.Node("com.example", "Relu", []), loaded) is None


def test_only_what_cannot_change_is_a_constant() -> None:
    nodes = [node("Constant", [], ["k"], value_ints=[7]), node("Add", ["x", "c"], ["y"])]
    proto = model(nodes, [("x", [1])], [("y", [1])], {"c": np.ones(1, F32)})
    graph = ir.from_proto(proto).graph
    made, add = graph

    assert constant(made.outputs[0]) == [7]
    assert constant(add.inputs[1]) == [1]
    assert constant(add.inputs[0]) is None
    assert constant(add.outputs[0]) is None
    assert constant(None) is None


@pytest.mark.parametrize(
    ("shape", "expected"),
    [([1, 2], (1, 2)), ([], ()), (["N", 2], None), (None, None)],
)
def test_a_shape_is_static_when_every_length_is_known(
    shape: list[int | str] | None, expected: tuple[int, ...] | None
) -> None:
    value = ir.Value(name="x", shape=None if shape is None else ir.Shape(shape))

    assert static_shape(value) == expected


@pytest.mark.parametrize(
    ("axis", "expected"),
    [(0, 2), (-1, None), (-2, 2), (2, None), (-3, None), (1 << 40, None)],
)
def test_length_along_an_axis_that_is_not_there_is_none(
    axis: int, expected: int | None
) -> None:
    value = ir.Value(name="x", shape=ir.Shape([2, "N"]))

    assert length_along(value, axis) == expected
