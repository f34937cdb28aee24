"""Files that nobody can read: lint, precision and init answer alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from ascendflow.graph import load, soundness
from ascendflow.graph.soundness import load_sound
from ascendflow.graph.structure import read_structure
from ascendflow.tasks.commands.init import Init
from ascendflow.tasks.commands.lint import Lint
from ascendflow.tasks.commands.precision import Precision
from tests.exported_models import training_batch_norm
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.graph.structure import Structure

LINT = ["m.onnx", "--soc", "Ascend310P3", "--cann", "8.1"]
COMMANDS = {
    "lint": (Lint, LINT),
    "lint --simplify": (Lint, [*LINT, "--simplify"]),
    "precision": (Precision, LINT),
    "init": (Init, ["det", "--onnx", "m.onnx"]),
}


def beside(**entries: str) -> onnx.ModelProto:
    """Three numbers beside the file, in m.data, as `entries` say."""
    nodes = [node("Add", ["x", "w"], ["y"])]
    proto = model(nodes, [("x", [3])], [("y", [3])], {"w": np.ones(3, F32)})
    (tensor,) = proto.graph.initializer
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in ({"location": "m.data"} | entries).items():
        tensor.external_data.add(key=key, value=value)
    return proto


def cycle() -> onnx.ModelProto:
    nodes = [node("Relu", ["x"], ["a"]), node("Relu", ["a"], ["y"])]
    proto = model(nodes, [("x", [3])], [("y", [3])])
    proto.graph.node[0].input[0] = "y"
    return proto


def cycle_through_a_branch() -> onnx.ModelProto:
    """A branch of an If reads what the If gives."""
    branches = {
        key: onnx.helper.make_graph(
            [node("Neg", ["x"], [key], name=key)],
            key,
            [],
            [onnx.helper.make_tensor_value_info(key, TensorProto.FLOAT, [3])],
        )
        for key in ("then_branch", "else_branch")
    }
    inputs: list[Any] = [("x", [3]), ("c", [], TensorProto.BOOL)]
    proto = model([node("If", ["c"], ["y"], **branches)], inputs, [("y", [3])])
    proto.graph.node[0].attribute[1].g.node[0].input[0] = "y"
    return proto


def defined_twice() -> onnx.ModelProto:
    nodes, w = [node("Add", ["x", "w"], ["y"])], np.ones(3, F32)
    proto = model(nodes, [("x", [3])], [("y", [3])], {"w": w})
    proto.graph.initializer.append(onnx.numpy_helper.from_array(2 * w, "w"))
    return proto


def made_giant() -> onnx.ModelProto:
    """68,719,476,736 zeros, added up."""
    nodes = [node("ConstantOfShape", ["many"], ["e"]), node("ReduceSum", ["e"], ["s"])]
    nodes.append(node("Add", ["x", "s"], ["y"]))
    return model(nodes, [("x", [1])], [("y", [1])], {"many": np.array([2**36])})


def many_axes(inside: int) -> onnx.ModelProto:
    nodes = [
        node("Reshape", ["x", "shape"], ["many"]),
        node("Reshape", ["many", "three"], ["y"]),
    ]
    shapes = {"shape": np.array([3] + [1] * (inside - 1)), "three": np.array([3])}
    return model(nodes, [("x", [3])], [("y", [3])], shapes)


def giant() -> onnx.ModelProto:
    sides = [2**62, 2**62]
    return model([node("Relu", ["x"], ["y"])], [("x", sides)], [("y", sides)])


def misshapen() -> onnx.ModelProto:
    """A window of three lengths over pictures of two."""
    made = node("MaxPool", ["x"], ["y"], name="pool", kernel_shape=[2, 2, 2])
    return model([made], [("x", [1, 1, 8, 8])], [("y", [1, 1, 7, 7])])


def twice() -> onnx.ModelProto:
    nodes = [node("Relu", ["x"], ["y"], name="a"), node("Neg", ["x"], ["z"], name="b")]
    proto = model(nodes, [("x", [3])], [("y", [3])])
    proto.graph.node[1].output[0] = "y"
    return proto


CASES = {
    "sound": (beside(length="12"), 0, ""),
    "length": (beside(length="99999999999999"), 3, "length 99999999999999, but"),
    "offset": (beside(offset="-5"), 3, "offset or length that is no number of bytes"),
    "cut-short": (beside(offset="4"), 3, "bytes 4 to 16 are wanted, the file has 12"),
    "cycle": (cycle(), 3, "'y' of node"),
    "attributes": (misshapen(), 3, "pool"),
    "training": (training_batch_norm(), 3, "'bn1' is in training mode"),
    "twice": (twice(), 3, "'y' is defined twice: by Relu node 'a' and by Neg node 'b'"),
    "giant": (giant(), 3, "elements, of at most 1073741824"),
    "cycle-through-a-branch": (cycle_through_a_branch(), 3, "'y' of node"),
    "defined-twice": (defined_twice(), 3, "w"),
    "64-axes": (many_axes(64), 0, ""),
    "65-axes": (many_axes(65), 3, "'many' has 65 dimensions, of at most 64"),
    "made-giant": (made_giant(), 3, "'e' has shape [68719476736]: 68719476736 elements"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_read_is_code_3_for_every_command(
    name: str,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    proto, code, said = CASES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.data").write_bytes(np.ones(3, F32).tobytes())
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    asked, arguments = COMMANDS[command]

    assert asked().parse_execute(arguments) == code

    assert said in capsys.readouterr().err
    assert (tmp_path / "pipelines").exists() == (command == "init" and code == 0)


def test_output_whose_name_is_no_text_is_read_beside_others(tmp_path: Path) -> None:
    nodes = [node("Neg", ["x"], ["first"]), node("Neg", ["x"], ["second"])]
    proto = model(nodes, [("x", [2])], [("first", [2]), ("second", [2])])
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString().replace(b"first", b"\xff\xfe\xc0\x80~"))

    assert len(load_sound(path).graph) == 2


def test_a_sound_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []

    def counted(path: Path) -> Structure:
        reads.append(path)
        return read_structure(path)

    for user in (load, soundness):
        monkeypatch.setattr(user, "read_structure", counted)
    nodes = [node("Dropout", ["x"], ["a"]), node("Neg", ["a"], ["y"])]
    path = tmp_path / "m.onnx"
    onnx.save(model(nodes, [("x", ["n"])], [("y", ["n"])]), path)

    read = load_sound(path, {"x": (3,)})

    assert reads == [path]
    assert [list(value.shape or ()) for value in read.graph.outputs] == [[3]]
