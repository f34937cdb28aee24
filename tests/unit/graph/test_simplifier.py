from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.simplifier import IDLE, SETTINGS, _idle_hidden, simplify
from tests import exported_models as models

PATH = Path("/somewhere/model.onnx")


def failing_until(milder: dict[str, bool], calls: list[dict[str, bool]]) -> Any:
    def tool(path: str, **options: bool) -> tuple[onnx.ModelProto, bool]:
        calls.append(options)
        if options != milder:
            raise RuntimeError(f"cannot fold {path}\nmore")
        return models.relu(), True

    return tool


def test_strongest_setting_is_taken_where_it_works() -> None:
    calls: list[dict[str, bool]] = []
    result = simplify(PATH, failing_until({}, calls))

    assert (result.setting, result.failed, len(calls)) == ("full", [], 1)


def test_next_milder_setting_is_taken_where_the_tool_raises() -> None:
    calls: list[dict[str, bool]] = []
    result = simplify(PATH, failing_until({"perform_optimization": False}, calls))

    assert result.setting == "without fusion"
    assert result.failed == [
        {"setting": "full", "error": "RuntimeError: cannot fold model.onnx"}
    ]


def test_failure_under_every_setting_is_refused_naming_each() -> None:
    with pytest.raises(StageError) as caught:
        simplify(PATH, failing_until({"never": True}, []))

    assert all(setting in caught.value.message for setting, _ in SETTINGS)


def test_result_that_the_tool_calls_wrong_is_refused() -> None:
    with pytest.raises(StageError, match="calls its own result wrong"):
        simplify(PATH, lambda _path, **_options: (models.relu(), False))


@pytest.mark.parametrize("name", IDLE)
def test_what_is_hidden_cannot_be_imported_meanwhile_and_can_afterwards(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delitem(sys.modules, name, raising=False)
    with _idle_hidden(), pytest.raises(ImportError):
        importlib.import_module(name)

    assert name not in sys.modules


def test_onnxsim_does_without_what_is_hidden(tmp_path: Path) -> None:
    onnx.save(models.relu(), tmp_path / "m.onnx")
    script = (
        "import sys; from pathlib import Path; from ascendflow.graph import simplifier\n"
        "made = simplifier.simplify(Path(sys.argv[1]))\n"
        "print(made.setting, sorted({*simplifier.IDLE} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "m.onnx")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "full []\n"
