"""Documents of one run, as the stages before `report` write them, built by hand."""

from __future__ import annotations

import copy
from typing import Any

CURED = "resize-half-pixel"


def node(
    name: str, op_type: str, inputs: list[str], cosine: float | str, **changes: Any
) -> dict[str, Any]:
    """One compared node whose output tensor is called `<name>:0`."""
    distance = 0.0 if isinstance(cosine, str) else round(1 - cosine, 6)
    return {
        "tensor": f"{name}:0",
        "node": name,
        "op_type": op_type,
        "target_op": None,
        "inputs": inputs,
        "status": "compared",
        "metrics": {
            "cosine_similarity": cosine,
            "relative_euclidean_distance": distance,
            "max_absolute_error": 0.25,
        },
        "statistics": {},
        "golden_nonfinite": 0,
        "target_nonfinite": 0,
        "introduced_nonfinite": 0,
        "problem": None,
        "diverges": isinstance(cosine, str) or cosine < 0.99,
        **changes,
    }


def check(metric: str, value: float | str, limit: dict[str, float], **changes: Any) -> Any:
    """One judged threshold on output `mask`; passed says what the numbers say."""
    passed = isinstance(value, float) and (
        value >= limit["min"] if "min" in limit else value <= limit["max"]
    )
    return {
        "name": f"onnx-target/mask/{metric}",
        "pair": "onnx-target",
        "subject": "mask",
        "sample": "test-07",
        "metric": metric,
        "value": value,
        "threshold": limit,
        "passed": passed,
        "tightest": value if isinstance(value, float) else None,
        "problem": None,
        **changes,
    }


APPLIED = [
    {
        "deviation": "resize-half-pixel",
        "nodes": ["/up3/Resize", "/up2/Resize"],
        "confidence": "medium",
        "source": "canndev resize_plugin.cc",
        "rule": CURED,
    },
    {
        "deviation": "precision-force_fp16",
        "nodes": [],
        "confidence": "high",
        "source": "FE precision engine",
        "rule": None,
    },
]

TARGET = {
    "backend": "emulator",
    "is_real_device": False,
    "cann": "8.1",
    "soc_version": "Ascend310P3",
    "precision_mode": "force_fp16",
}

CONVERSION = {
    "schema_version": 1,
    **TARGET,
    "overflow": "inf",
    "modelled_nodes": 3,
    "assumed": {"Sigmoid": 1, "Add": 2},
    "applied": APPLIED,
    "target_ops": {"/up3/Resize": "ResizeBilinearV2"},
}

NODES = [
    node("/conv/Conv", "Conv", ["image"], 0.999999, target_op="Conv2D"),
    node("/up3/Resize", "Resize", ["/conv/Conv:0"], 0.57, target_op="ResizeBilinearV2"),
    node("/add/Add", "Add", ["/up3/Resize:0", "/conv/Conv:0"], 0.6),
    node("/head/Sigmoid", "Sigmoid", ["/add/Add:0"], "NaN", introduced_nonfinite=4),
    node("/fold/Mul", "Mul", [], 0.0, status="golden_only", metrics={}, diverges=False),
]

FAILED_CHECKS = [
    check("cosine_similarity", 0.9312, {"min": 0.999}),
    check("max_absolute_error", 0.001, {"max": 0.01}),
    check(
        "relative_drop",
        0.125,
        {"max": 0.01},
        subject="mean_iou",
        name="onnx-target/mean_iou/relative_drop",
        sample=None,
    ),
]

OUTPUT = {
    "pair": "onnx-target",
    "name": "mask",
    "kind": "float",
    "smallest_size": 49152,
    "golden_range": 1.0,
    "metrics": {
        "cosine_similarity": {"worst": 0.9312, "mean": 0.95, "worst_sample": "test-07"},
        "max_absolute_error": {"worst": 0.001, "mean": 0.0005, "worst_sample": "test-02"},
    },
    "floored_max_relative_error": None,
    "statistics": {},
    "golden_nonfinite": 0,
    "target_nonfinite": 0,
    "problems": [],
}


def failed() -> dict[str, Any]:
    """Every document of a run that fails at a Resize, by role; the caller may edit it."""
    resize = NODES[1]
    return copy.deepcopy(
        {
            "verdict.json": {
                "schema_version": 1,
                "model": "pan",
                **TARGET,
                "emulation": {
                    "modelled_nodes": 3,
                    "assumed": CONVERSION["assumed"],
                    "applied": APPLIED,
                },
                "passed": False,
                "checks": FAILED_CHECKS,
                "first_divergent_node": {
                    "name": resize["node"],
                    "tensor": resize["tensor"],
                    "op_type": resize["op_type"],
                    "target_op": resize["target_op"],
                    "reason": "cosine_similarity",
                    "metrics": resize["metrics"],
                },
                "divergent_outputs": [],
                "judged": {},
            },
            "golden.json": {
                "schema_version": 1,
                "runtime": "onnxruntime",
                "graph_optimization": "off",
                "has_torch": True,
                "torch_onnx": {},
                "outputs": {"mask": {"dtype": "float32", "shape": [1, 5, 96, 128]}},
            },
            "metrics.json": {
                "schema_version": 1,
                "outputs": [OUTPUT],
                "nodes": NODES,
                "node_samples": ["test-00"],
            },
            "evaluation.json": {
                "schema_version": 1,
                "metric": "mean_iou",
                "direction": "higher",
                "torch": 0.8125,
                "onnx": 0.8,
                "target": 0.7,
            },
            "conversion.json": CONVERSION,
            "rewrite.json": {"schema_version": 1, "rules": []},
            "check.json": {"schema_version": 1, "outputs": {}, "promises": []},
            "warnings.json": {"schema_version": 1, "warnings": []},
            "nodes.json": {
                "schema_version": 1,
                "nodes": {"/up3/Resize": {"module": "up3", "source": "model.py:42"}},
            },
        }
    )


def rule_entry(name: str) -> dict[str, Any]:
    """A rule of the log that found nothing to do."""
    return {
        "rule": name,
        "version": 1,
        "effect": "exact",
        "file": None,
        "deviations": {},
        "applied": [],
        "skipped": [],
    }


def passed() -> dict[str, Any]:
    """Every document of a run that passes, its rule applied."""
    documents = failed()
    verdict = documents["verdict.json"]
    verdict["passed"], verdict["first_divergent_node"] = True, None
    verdict["checks"] = [check("cosine_similarity", 0.99951, {"min": 0.999})]
    documents["metrics.json"]["nodes"] = [
        node("/conv/Conv", "Conv", ["image"], 0.999999),
        node("/up3/Resize", "Resize", ["/conv/Conv:0"], 0.9999),
    ]
    documents["evaluation.json"]["target"] = 0.799
    documents["conversion.json"]["applied"] = copy.deepcopy(APPLIED[1:])
    documents["rewrite.json"]["rules"] = [
        {
            **rule_entry(CURED),
            "applied": [
                {"node": "/up3/Resize", "op_type": "Resize", "before": {}, "after": {}}
            ],
            "skipped": [
                {
                    "node": "/near/Resize",
                    "op_type": "Resize",
                    "reason": "mode is not 'linear'",
                }
            ],
        }
    ]
    documents["check.json"]["promises"] = [{"rule": CURED, "effect": "exact", "held": True}]
    return documents


def undecided() -> dict[str, Any]:
    """Every document of a run that fails where no source says what CANN does."""
    documents = failed()
    names = ["the one", "the other"]
    documents["conversion.json"]["applied"][0]["behaviours"] = names
    verdict = documents["verdict.json"]
    verdict["emulation"]["applied"] = documents["conversion.json"]["applied"]
    verdict["emulation"]["behaviours"] = {"names": names, "nodes": "the other"}
    verdict["checks"][0]["behaviour"] = "the other"
    return documents
