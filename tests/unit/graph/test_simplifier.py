from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.errors import StageError
from ascendflow.graph.simplifier import SETTINGS, _torch_hidden, simplify
from tests import exported_models as models

if TYPE_CHECKING:
    import onnx

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


def test_torch_cannot_be_imported_meanwhile_and_can_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with _torch_hidden(), pytest.raises(ImportError):
        import torch  # noqa: F401

    assert "torch" not in sys.modules
