from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto, helper

from ascendflow.graph.found_boxes import sets_of
from tests.exported_models import model, node, value

if TYPE_CHECKING:
    from pathlib import Path


def suppressing(boxes: list[int | str]) -> onnx.ModelProto:
    """NonMaxSuppression, what is made of it, and what is not."""
    nodes = [
        node("NonMaxSuppression", ["b", "s"], ["i"], name="nms"),
        node("Gather", ["i", "column"], ["chosen"], axis=1),
        node("Gather", ["flat", "chosen"], ["found"], axis=1),
        node("ReduceSum", ["i"], ["count"], keepdims=0),
        node("NonZero", ["s"], ["places"]),
    ]
    constants = [
        helper.make_tensor("column", TensorProto.INT64, [], [2]),
        helper.make_tensor("flat", TensorProto.FLOAT, [4, 4], [0.0] * 16),
    ]
    outputs = [
        helper.make_tensor_value_info("i", TensorProto.INT64, ["n", 3]),
        value("found", [4, "n"]),
        helper.make_tensor_value_info("count", TensorProto.INT64, []),
        helper.make_tensor_value_info("places", TensorProto.INT64, [3, "k"]),
    ]
    return model(nodes, [value("b", boxes), value("s", [1, 1, 4])], outputs, constants)


def test_what_is_made_of_boxes_found_is_a_set_along_its_open_axis(tmp_path: Path) -> None:
    """NonZero's order is ONNX's: row by row."""
    onnx.save(suppressing([1, 4, 4]), tmp_path / "m.onnx")

    assert sets_of(tmp_path / "m.onnx") == {"i": 0, "found": 1}


def test_with_open_inputs_order_counts(tmp_path: Path) -> None:
    onnx.save(suppressing(["batch", 4, 4]), tmp_path / "m.onnx")

    assert sets_of(tmp_path / "m.onnx") == {}


def test_two_open_sizes_are_no_set(tmp_path: Path) -> None:
    proto = suppressing([1, 4, 4])
    proto.graph.output[0].type.tensor_type.shape.dim[1].dim_param = "m"
    onnx.save(proto, tmp_path / "m.onnx")

    assert sets_of(tmp_path / "m.onnx") == {"found": 1}
