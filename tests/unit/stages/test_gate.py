from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from ascendflow.documents.verdict import Verdict
from ascendflow.errors import StageError
from ascendflow.manifest.typed_dicts import rebuilt
from ascendflow.metrics.nodes import NodeTable, Origin
from ascendflow.metrics.outputs import OutputSeries
from ascendflow.stages.gate import Gate
from ascendflow.stages.stage import Findings, StageContext

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = np.arange(1.0, 13.0)

CONVERSION = {
    "schema_version": 1,
    "backend": "emulator",
    "is_real_device": False,
    "cann": "8.1",
    "soc_version": "Ascend310P3",
    "precision_mode": "force_fp16",
    "overflow": "saturate",
    "modelled_nodes": 1,
    "assumed": {"Conv": 3},
    "applied": [
        {
            "deviation": "resize",
            "nodes": ["up"],
            "rule": "resize-half-pixel",
            "confidence": "medium",
            "source": "a page",
        }
    ],
    "target_ops": {"up": "ResizeBilinearV2"},
}


def _documents(target: np.ndarray) -> dict[str, Any]:
    series = OutputSeries("onnx-target", "mask")
    series.add("s0", GOLDEN, target)
    table = NodeTable()
    table.add("t", GOLDEN, target)
    nodes = table.result([Origin("t", "up", "Resize", ("x",))], {"up": "ResizeBilinearV2"})
    return {
        "golden.json": {
            "schema_version": 1,
            "runtime": "onnxruntime",
            "graph_optimization": "off",
            "has_torch": False,
            "torch_onnx": {},
            "outputs": {"mask": {"dtype": "float64", "shape": [12]}},
        },
        "metrics.json": {
            "schema_version": 1,
            "outputs": [series.result()],
            "nodes": nodes,
            "node_samples": ["s0"],
        },
        "evaluation.json": {
            "schema_version": 1,
            "metric": "mean_iou",
            "direction": "higher",
            "torch": None,
            "onnx": 0.78,
            "target": 0.62,
        },
        "conversion.json": CONVERSION,
    }


def _judge(folder: Path, documents: dict[str, Any], **config: Any) -> Any:
    for role, document in documents.items():
        (folder / role).write_text(json.dumps(document, allow_nan=False), "utf-8")
    ctx = StageContext(
        config={"model": "pan", "outputs": {}, "metric": None, "direction": None} | config,
        inputs={role: folder / role for role in Gate.consumes},
        files={},
        outputs={"verdict.json": folder / "verdict.json"},
        folder=folder,
        backend=None,
        seed=0,
        findings=Findings(),
    )
    Gate().run(ctx)
    verdict = json.loads((folder / "verdict.json").read_text("utf-8"))
    assert TypeAdapter(rebuilt(Verdict)).validate_python(verdict, strict=True) == verdict
    return verdict


def test_equal_outputs_pass_and_the_verdict_says_on_what(tmp_path: Path) -> None:
    verdict = _judge(tmp_path, _documents(GOLDEN))

    assert verdict["passed"] is True
    assert verdict["first_divergent_node"] is None
    assert verdict["model"] == "pan"
    assert verdict["backend"] == "emulator"
    assert verdict["soc_version"] == "Ascend310P3"
    assert verdict["emulation"] == {
        "modelled_nodes": 1,
        "assumed": {"Conv": 3},
        "applied": CONVERSION["applied"],
    }
    content = (tmp_path / "metrics.json").read_bytes()
    assert verdict["judged"].keys() == Gate.consumes
    assert (
        verdict["judged"]["metrics.json"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    )


def test_a_failure_is_written_and_names_the_first_divergent_node(tmp_path: Path) -> None:
    verdict = _judge(tmp_path, _documents(GOLDEN[::-1].copy()))

    assert verdict["passed"] is False
    assert [c["name"] for c in verdict["checks"]] == ["onnx-target/mask/cosine_similarity"]
    assert verdict["first_divergent_node"]["name"] == "up"
    assert verdict["first_divergent_node"]["target_op"] == "ResizeBilinearV2"
    assert verdict["first_divergent_node"]["reason"] == "cosine_similarity"


def test_a_failure_of_the_export_alone_blames_no_node_of_the_target(tmp_path: Path) -> None:
    close = GOLDEN * (1 + 1e-6 * np.arange(12))  # a node drops, far within its limits
    documents = _documents(close)
    documents["golden.json"]["has_torch"] = True
    export, target = (
        OutputSeries("torch-onnx", "mask"),
        OutputSeries("torch-target", "mask"),
    )
    export.add("s0", GOLDEN[::-1], GOLDEN)
    target.add("s0", GOLDEN, close)
    documents["metrics.json"]["outputs"] += [export.result(), target.result()]
    verdict = _judge(tmp_path, documents)

    assert [c["pair"] for c in verdict["checks"] if not c["passed"]] == ["torch-onnx"]
    assert verdict["passed"] is False
    assert verdict["first_divergent_node"] is None


def test_nan_is_written_as_a_word_and_fails(tmp_path: Path) -> None:
    verdict = _judge(tmp_path, _documents(np.full(12, np.nan)))

    assert verdict["passed"] is False
    assert verdict["checks"][0]["value"] == "NaN"
    assert verdict["checks"][0]["tightest"] is None
    assert verdict["first_divergent_node"]["reason"] == "nonfinite"


def test_a_fall_of_the_end_metric_fails_where_the_outputs_pass(tmp_path: Path) -> None:
    limits = {"max_relative_drop": 0.01, "against": "onnx"}
    verdict = _judge(tmp_path, _documents(GOLDEN), metric=limits, direction="higher")

    assert [(c["subject"], c["passed"]) for c in verdict["checks"]] == [
        ("mask", True),
        ("mean_iou", False),
    ]
    assert verdict["passed"] is False


def test_no_output_to_judge_is_no_pass(tmp_path: Path) -> None:
    documents = _documents(GOLDEN)
    documents["golden.json"]["outputs"] = {}

    assert _judge(tmp_path, documents)["passed"] is False


def test_a_real_device_has_no_emulation(tmp_path: Path) -> None:
    documents = _documents(GOLDEN)
    documents["conversion.json"] = CONVERSION | {"is_real_device": True, "backend": "cann"}

    assert _judge(tmp_path, documents)["emulation"] is None


def test_an_unknown_output_in_the_gate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="'msk' is no output"):
        _judge(tmp_path, _documents(GOLDEN), outputs={"msk": {}})


def test_of_two_behaviours_the_verdict_names_the_worse(tmp_path: Path) -> None:
    documents = _documents(GOLDEN[::-1].copy())
    behaviours = {"names": ["right", "wrong"], "nodes": "wrong"}
    documents["metrics.json"]["behaviours"] = behaviours
    for number in documents["metrics.json"]["outputs"][0]["metrics"].values():
        number["behaviour"] = "wrong"

    verdict = _judge(tmp_path, documents)

    assert verdict["passed"] is False
    assert [check["behaviour"] for check in verdict["checks"]] == ["wrong"]
    assert verdict["emulation"]["behaviours"] == behaviours
