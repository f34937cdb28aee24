"""Files that do not hold what they say are refused by name, whoever loads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.load import load_model
from tests.models import F32, model, node, resize

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def product() -> onnx.ModelProto:
    """Make y = x times w, of shape (2, 3)."""
    return model(
        [node("Mul", ["x", "w"], ["y"])],
        [("x", [2, 3])],
        [("y", [2, 3])],
        {"w": np.ones((2, 3), F32)},
    )


def cut_short(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].raw_data = bytes(20)


def typed_too_short(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].ClearField("raw_data")
    proto.graph.initializer[0].float_data.extend([1, 2, 3])


def of_unknown_type(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].data_type = 99


def of_negative_length(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].dims[0] = -(2**63)


def in_segments(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].segment.begin = 1


def beside_and_missing(proto: onnx.ModelProto) -> None:
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="gone.bin")


def outside_of_the_folder(proto: onnx.ModelProto) -> None:
    beside_and_missing(proto)
    proto.graph.initializer[0].external_data[0].value = "../secret.bin"


def called_like_a_folder(proto: onnx.ModelProto) -> None:
    beside_and_missing(proto)
    proto.graph.initializer[0].external_data[0].value = "model.onnx/"


def attribute_of_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].attribute.add(name="axis")


def attribute_that_is_no_text(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].attribute.add(name="mode", type=3, s=b"\xff")


def attribute_of_a_function(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].attribute.add(name="mode", type=3, ref_attr_name="q")


def cycle(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].input[0] = "y"


def nothing_makes_it(proto: onnx.ModelProto) -> None:
    del proto.graph.initializer[:]


def two_origins(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(proto.graph.node[0])


def input_of_another_length_that_is_an_output(proto: onnx.ModelProto) -> None:
    proto.graph.output[0].name = "x"
    proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 4


def no_graph(proto: onnx.ModelProto) -> None:
    proto.ClearField("graph")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (cut_short, "tensor 'w' has 20 bytes, its type and shape need 24"),
        (typed_too_short, "tensor 'w' does not hold what its shape says"),
        (of_unknown_type, "tensor 'w' has the unknown data type 99"),
        (of_negative_length, "tensor 'w' has a length below 0"),
        (in_segments, "tensor 'w' is stored in segments"),
        (beside_and_missing, "tensor 'w': its external data 'gone.bin' does not exist"),
        (outside_of_the_folder, "tensor 'w': its external data .* leaves the folder"),
        (called_like_a_folder, "tensor 'w': .* is no file's name"),
        (attribute_of_no_type, "Bad node spec for node. Name: y"),
        (attribute_that_is_no_text, r"node 'y': its 'mode' is not UTF-8: b'\\xff'"),
        (attribute_of_a_function, "node 'y': its 'mode' refers to a function's 'q'"),
        (cycle, "'y'|topologically sorted"),
        (nothing_makes_it, "input 'w' of node"),
        (two_origins, "'y'|\"y\"|SSA"),
        (
            input_of_another_length_that_is_an_output,
            r"output 'x' is declared float32 \[2, 4\], the input .* float32 \[2, 3\]",
        ),
        (no_graph, "it holds no graph"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_model_that_is_not_whole_is_refused_by_name(
    spoil: Callable[[onnx.ModelProto], None], said: str, tmp_path: Path
) -> None:
    proto = product()
    spoil(proto)
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())

    with pytest.raises(
        StageError, match=rf"(?s)model\.onnx: not a readable ONNX .*(?:{said})"
    ):
        load_model(tmp_path / "model.onnx")


@pytest.mark.parametrize("length", [3, "n"])
def test_input_that_is_an_output_may_be_declared_in_two_ways_that_fit(
    tmp_path: Path, length: int | str
) -> None:
    proto = model([node("Abs", ["x"], ["y"])], [("x", [2, 3])], [("x", [2, length])])
    proto.graph.output.add().CopyFrom(
        onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 3])
    )
    onnx.save(proto, tmp_path / "model.onnx")

    assert [v.name for v in load_model(tmp_path / "model.onnx").graph.outputs] == ["x", "y"]


def test_model_that_is_whole_is_loaded(tmp_path: Path) -> None:
    onnx.save(product(), tmp_path / "model.onnx")

    assert load_model(tmp_path / "model.onnx").graph.num_nodes() == 1


def test_tensor_that_no_memory_holds_is_refused_by_name(tmp_path: Path) -> None:
    proto = resize([1, 1, 4, 4], sizes=[1, 1, 2**31, 4], mode="linear")
    onnx.save(proto, tmp_path / "model.onnx")

    with pytest.raises(StageError, match=r"tensor 'y' has shape .* 8589934592 elements"):
        load_model(tmp_path / "model.onnx")


def test_vector_that_is_too_long_to_follow_is_loaded(tmp_path: Path) -> None:
    long = [1 << 30]
    proto = model([node("Cast", ["x"], ["y"], to=10)], [("x", long)], [("y", long, 10)])
    onnx.save(proto, tmp_path / "model.onnx")

    assert load_model(tmp_path / "model.onnx").graph.outputs[0].shape == tuple(long)
