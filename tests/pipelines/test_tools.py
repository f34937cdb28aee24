"""A tool of another version runs the stages that it takes part in, and says why."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.stages import load_stage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout

MAKING = {
    "export": {"onnx", "onnx-ir", "onnxscript", "torch"},
    "golden": {"onnx", "onnxruntime", "torch"},
    "simplify": {"onnx", "onnxruntime", "onnxsim"},
    "rewrite": {"onnx", "onnx-ir"},
    "check": {"onnxruntime"},
    "convert": {"onnx", "onnx-ir"},
    "infer": {"onnxruntime"},
    "compare": {"numpy", "onnxruntime"},
}
"""Stage -> the distributions whose versions can change what it makes, at the least."""


@pytest.mark.parametrize("stage", MAKING)
def test_what_makes_an_artifact_is_in_its_key(stage: str) -> None:
    """PL15."""
    config: dict[str, Any] = {
        "torch": {"module": "model.py"},
        "enabled": True,
        "rules": ["resize-half-pixel"],
        "backend": "emulator",
    }

    assert set(load_stage(stage).tools(config)) >= MAKING[stage]


@pytest.mark.parametrize(
    ("stage", "tool"),
    [("export", "torch"), ("simplify", "onnxsim"), ("check", "onnxruntime")],
)
def test_another_version_of_a_tool_runs_its_stage_and_says_both(
    checkout: Checkout, tmp_path: Path, stage: str, tool: str
) -> None:
    """PL15: the model is the same, and so is its file; an old artifact is not used."""
    if tool == "torch":
        pytest.importorskip("torch")
    checkout.edit(
        f"ascendflow/stages/{stage}.py",
        f'return ("doit",) if {stage!r} == "convert" else ()',
        f"return ({tool!r},)",
    )
    checkout.doit("model=toy")
    (tmp_path / "site" / f"{tool}-99.0.dist-info").mkdir(parents=True)
    newer = {"PYTHONPATH": f"{checkout.folder}:{tmp_path / 'site'}"}
    explained = checkout.doit("explain", stage, "model=toy", **newer).text
    run = checkout.doit("model=toy", **newer)
    back = checkout.doit("model=toy")

    assert f"tool {tool} changed: '{version(tool)}' -> '99.0'" in explained
    # It makes the same as before, so nothing after it runs: early cut-off.
    assert (run.code, run.executed) == (0, [stage])
    assert (back.code, back.executed) == (0, [])
    assert stage in back.restored
