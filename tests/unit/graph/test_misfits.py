"""Input shapes that a model cannot take, told by the node that stumbles over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.fixed_shapes import fix_shapes
from ascendflow.graph.load import load_to_look
from ascendflow.tensors import TensorSpec
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path


def skipping(name: str = "join") -> onnx.ModelProto:
    """Halve and double a picture, and add it to itself: of even lengths alone."""
    nodes = [
        node("MaxPool", ["x"], ["half"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Resize", ["half", "", "up"], ["whole"], mode="nearest"),
        node("Add", ["x", "whole"], ["y"], name=name),
        node("Relu", ["y"], ["z"]),
        node("Concat", ["z", "z"], ["twice"], axis=1),
    ]
    sizes: list[int | str] = [1, 1, "h", "w"]
    doubled: list[int | str] = [1, 2, "a", "b"]
    up = {"up": np.array([1, 1, 2, 2], F32)}
    return model(nodes, [("x", sizes)], [("twice", doubled)], up)


def fixed(proto: onnx.ModelProto, *sizes: int) -> list[str]:
    return fix_shapes(proto, [TensorSpec("x", "float32", sizes)])


def test_the_first_node_is_named_with_both_lengths_and_the_shapes_given() -> None:
    with pytest.raises(StageError) as caught:
        fixed(skipping(), 1, 1, 9, 9)

    message = caught.value.message
    assert message.startswith(
        "the model does not accept these input shapes: x [1, 1, 9, 9]: node 'join' (Add): "
    )
    assert message.endswith("it reads 'x' [1, 1, 9, 9] and 'whole' [1, 1, 8, 8]")
    assert message.count("op_type") == 0


def test_shapes_that_fit_are_taken() -> None:
    assert fixed(skipping(), 1, 1, 8, 8) == ["x"]


def test_a_node_without_a_name_is_told_by_its_operator() -> None:
    proto = skipping("")
    for each in proto.graph.node:
        each.name = ""

    with pytest.raises(StageError, match=r"\(Add\): .*'x' \[1, 1, 9, 9\] and 'whole'"):
        fixed(proto, 1, 1, 9, 9)


def test_what_is_wrong_with_any_shape_is_not_blamed_on_the_one_given() -> None:
    proto = skipping()
    proto.graph.node.append(node("MaxPool", ["y"], ["v"], kernel_shape=[2, 2, 2]))

    assert fixed(proto, 1, 1, 8, 8) == ["x"]


def test_lint_looks_at_them_too(tmp_path: Path) -> None:
    onnx.save(skipping(), tmp_path / "m.onnx")

    load_to_look(tmp_path / "m.onnx", {"x": (1, 1, 8, 8)})
    with pytest.raises(StageError, match="node 'join'"):
        load_to_look(tmp_path / "m.onnx", {"x": (1, 1, 9, 9)})
