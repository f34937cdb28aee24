from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow import cli
from ascendflow.tasks.commands.precision import Precision
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> str:
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="stem"),
        node("MaxPool", ["c"], ["m"], name="pool", kernel_shape=[2, 2]),
        node("Cast", ["m"], ["y"], name="out", to=onnx.TensorProto.FLOAT16),
    ]
    y = ("y", ["a", "b", "c", "d"], onnx.TensorProto.FLOAT16)
    weights = {"w": np.ones((2, 2, 1, 1), F32)}
    onnx.save(model(nodes, [("x", [1, 2, 4, 4])], [y], weights), tmp_path / "m.onnx")
    return str(tmp_path / "m.onnx")


def test_every_node_is_a_line_with_types_and_reason(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [path, "--soc", "Ascend310P3", "--precision-mode", "mixed_float16"]

    assert Precision().parse_execute(arguments) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("CANN 8.1, ascend310p, allow_mix_precision; emulated")
    assert lines[1].split()[:2] == ["node", "operator"]
    assert [line.split()[:5] for line in lines[2:]] == [
        ["stem", "Conv", "Conv2D", "float16", "float16"],
        ["pool", "MaxPool", "MaxPoolV3", "float16", "float16"],
        ["out", "Cast", "Cast", "float32", "float16"],
    ]
    assert (
        "on the gray list: follows 'stem' (float16); MaxPoolV3 has float16 only"
        in (lines[3])
    )


def test_json_holds_the_same_and_what_nothing_runs(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--format", "json", "--soc=Ascend310P3", path, "--keep-dtype", "pool"]

    assert Precision().parse_execute(arguments) == 0

    data = json.loads(capsys.readouterr().out)
    assert (data["soc_family"], data["is_real_device"]) == ("ascend310p", False)
    stem, pool, _ = data["nodes"]
    assert (stem["dtype_in"], stem["problem"]) == ("float16", None)
    assert (pool["dtype_in"], pool["problem"]) == (None, "rejected")
    assert "keep_dtype forbids float16" in pool["reason"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "give one ONNX file"),
        (["{}"], "give the SoC with --soc"),
        (["gone.onnx", "--soc", "Ascend310"], "there is no file 'gone.onnx'"),
        (["{}", "--soc", "Ascend310P4"], "did you mean 'Ascend310P"),
        (["{}", "--soc", "Ascend310", "--precision-mode", "fp61"], "did you mean 'fp16'?"),
        (
            ["{}", "--soc", "Ascend310", "--precision-mode", "mixed_bfloat16"],
            "'mixed_bfloat16' is not modelled",
        ),
        (["{}", "--soc", "Ascend310", "--cann", "99.1"], "cann '99.1' is not modelled"),
        (["{}", "--soc", "Ascend310", "--format", "xml"], "text or json, not 'xml'"),
        (["{}", "--soc", "Ascend310", "--keep-dtype", "steem"], "did you mean 'stem'?"),
        (["{}", "--soc", "Ascend310", "--bogus"], "precision: option --bogus"),
    ],
)
def test_a_mistake_is_told_without_a_traceback(
    arguments: list[str], problem: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spelled = [path if each == "{}" else each for each in arguments]

    assert Precision().parse_execute(spelled) == 3

    error = capsys.readouterr().err
    assert problem in error
    assert "Traceback" not in error


def test_a_file_that_is_no_model_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.onnx").write_text("no model")

    assert Precision().parse_execute([str(tmp_path / "m.onnx"), "--soc=Ascend310"]) == 3
    assert "not a readable ONNX model" in capsys.readouterr().err


def test_a_file_is_named_from_where_the_user_stands(
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "dodo.py").touch()
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path / "models")
    command = ["ascendflow", "precision", "../m.onnx", "--soc", "Ascend310P3"]
    monkeypatch.setattr("sys.argv", command)

    assert cli.main() == 0
    assert "stem" in capsys.readouterr().out
    assert path
