from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from ascendflow.tasks.commands import COMMANDS, DATABASES
from ascendflow.tasks.commands.init import Init
from tests.exported_models import tensor_made_twice, training_batch_norm
from tests.unit.manifest import models

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto


SHAPES = ("--shape", "x:1,5", "--shape", "y:2")


@pytest.fixture
def onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return models.identity(tmp_path / "det.onnx", {"x": [1, "h"], "y": ["n"]})


@pytest.mark.parametrize("first", [True, False], ids=["model-first", "options-first"])
def test_init_takes_its_options_on_either_side_of_the_model(
    onnx: Path, capsys: pytest.CaptureFixture[str], first: bool
) -> None:
    options = ["--onnx", str(onnx), "--shape", "x:1,5", "--shape", "y:2"]
    arguments = ["det", *options] if first else [*options, "det"]

    assert Init().parse_execute(arguments) == 0

    out = capsys.readouterr().out
    assert "wrote pipelines/det/manifest.yaml\n" in out
    assert out.endswith("next: doit model=det\n")
    manifest = onnx.parent / "here" / "pipelines" / "det" / "manifest.yaml"
    assert "shape: [1, 5]" in manifest.read_text()
    plugins = tomllib.loads((onnx.parent / "here" / "pyproject.toml").read_text())
    assert plugins["tool"]["doit"]["plugins"] == {
        "backend": dict(DATABASES),
        "command": dict(COMMANDS),
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param([], "give one model's name", id="no-model"),
        pytest.param(["a", "b"], "give one model's name", id="two-models"),
        pytest.param(
            ["det", "--onnx", "../det.onnx"], "dynamic dimensions: x", id="dynamic"
        ),
        pytest.param(["det", "--onnx", "../none.onnx"], "cannot be read", id="no-file"),
    ],
)
@pytest.mark.usefixtures("onnx")
def test_init_that_cannot_be_exits_with_3_and_no_traceback(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert Init().parse_execute(arguments) == 3

    err = capsys.readouterr().err
    assert err.startswith("ERROR: init: ")
    assert said in err
    assert "Traceback" not in err


def test_init_beside_a_dodo_that_lacks_the_tasks_says_to_add_them_first(
    onnx: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (onnx.parent / "here" / "dodo.py").write_text("def task_mine(): ...\n")

    assert Init().parse_execute(["det", "--onnx", "../det.onnx", *SHAPES]) == 0

    out = capsys.readouterr().out
    assert "add the line: from ascendflow.tasks import" in out
    assert out.endswith("next: add that line to dodo.py, then doit model=det\n")


@pytest.mark.parametrize(
    ("proto", "said"),
    [
        pytest.param(training_batch_norm(), "'bn1' is in training mode", id="training"),
        pytest.param(tensor_made_twice(), "tensor 't' is defined twice", id="twice"),
    ],
)
def test_init_refuses_at_once_what_export_would_refuse(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    proto: ModelProto,
    said: str,
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())

    assert Init().parse_execute(["det", "--onnx", "../m.onnx"]) == 3

    assert said in capsys.readouterr().err
    assert not list((tmp_path / "here").iterdir())
