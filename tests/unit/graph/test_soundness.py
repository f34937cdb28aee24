"""Files that nobody can read: lint, precision and init answer alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from ascendflow.tasks.commands.init import Init
from ascendflow.tasks.commands.lint import Lint
from ascendflow.tasks.commands.precision import Precision
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path

LINT = ["m.onnx", "--soc", "Ascend310P3", "--cann", "8.1"]
COMMANDS = {
    "lint": (Lint, LINT),
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


def giant() -> onnx.ModelProto:
    sides = [2**62, 2**62]
    return model([node("Relu", ["x"], ["y"])], [("x", sides)], [("y", sides)])


CASES = {
    "sound": (beside(length="12"), 0, ""),
    "length": (beside(length="99999999999999"), 3, "length 99999999999999, but"),
    "offset": (beside(offset="-5"), 3, "offset or length that is no number of bytes"),
    "cut-short": (beside(offset="4"), 3, "bytes 4 to 16 are wanted, the file has 12"),
    "cycle": (cycle(), 3, "'y' of node"),
    "giant": (giant(), 3, "elements, of at most 1073741824"),
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
