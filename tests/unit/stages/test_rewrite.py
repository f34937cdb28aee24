from __future__ import annotations

import json
from typing import TYPE_CHECKING

import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.stages.rewrite import Rewrite
from ascendflow.stages.stage import KeptFile
from tests.models import resize_chain
from tests.stages import context

if TYPE_CHECKING:
    from pathlib import Path

RULES = [{"name": "resize-half-pixel", "nodes": None, "count": None}]


def simplified(root: Path, mode: str = "half_pixel") -> None:
    (root / "simplified").mkdir()
    onnx.save(resize_chain(mode), root / "simplified" / "model.onnx")


def test_the_log_and_the_model_are_written(tmp_path: Path) -> None:
    simplified(tmp_path)
    ctx = context(Rewrite, tmp_path, {"rules": RULES})

    Rewrite().run(ctx)

    log = json.loads(ctx.outputs["rewrite.json"].read_text(encoding="utf-8"))
    assert log["schema_version"] == 1
    assert log["rules"][0]["rule"] == "resize-half-pixel"
    assert len(log["rules"][0]["applied"]) == 8
    assert onnx.load(ctx.outputs["rewritten"] / "model.onnx") == resize_chain(
        "pytorch_half_pixel"
    )
    assert ctx.findings.warnings == []
    assert ctx.findings.kept == {}


def test_weights_beside_the_model_are_kept_not_copied(tmp_path: Path) -> None:
    simplified(tmp_path)
    (tmp_path / "simplified" / "model.onnx.data").write_bytes(b"weights")
    ctx = context(Rewrite, tmp_path, {"rules": RULES})

    Rewrite().run(ctx)

    kept = {"rewritten/model.onnx.data": KeptFile("simplified", "model.onnx.data")}
    assert ctx.findings.kept == kept
    assert not (ctx.outputs["rewritten"] / "model.onnx.data").exists()


def test_an_idle_rule_warns(tmp_path: Path) -> None:
    simplified(tmp_path, "asymmetric")
    ctx = context(Rewrite, tmp_path, {"rules": RULES})

    Rewrite().run(ctx)

    assert "applied to nothing" in ctx.findings.warnings[0]


def test_selectors_come_from_the_manifest(tmp_path: Path) -> None:
    simplified(tmp_path)
    rule = {"name": "resize-half-pixel", "nodes": ["u0", "u2"], "count": 1}

    with pytest.raises(StageError, match="2 nodes match, count allows 1"):
        Rewrite().run(context(Rewrite, tmp_path, {"rules": [rule]}))
