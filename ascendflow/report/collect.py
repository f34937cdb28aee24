"""Documents -> report: joins what the stages measured, judges nothing anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.metrics.divergent import with_inputs
from ascendflow.metrics.registry import METRICS
from ascendflow.report.causes import deviation, divergent_node, origin
from ascendflow.report.words import EMULATED, MEASURED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.documents.check import Check
    from ascendflow.documents.conversion import Conversion
    from ascendflow.documents.evaluation import Evaluation
    from ascendflow.documents.metrics import NodeComparison, OutputComparison
    from ascendflow.documents.nodes import NodesDocument
    from ascendflow.documents.report import (
        Emulation,
        EndMetric,
        MetricText,
        NodeRow,
        OutputRow,
        Report,
        RuleRow,
        Target,
    )
    from ascendflow.documents.rewrite_log import RuleEntry
    from ascendflow.documents.verdict import Verdict

    Documents = Mapping[str, Any]


def collect(documents: Documents) -> Report:
    """Join the documents of one run into one report.

    Args:
        documents: role ("verdict.json") -> document.
    """
    verdict, conversion = documents["verdict.json"], documents["conversion.json"]
    measured, origins = documents["metrics.json"], documents["nodes.json"]
    log, checked = documents["rewrite.json"], documents["check.json"]
    moved = (found["max_absolute_error"] for found in checked["outputs"].values())
    return {
        "schema_version": 1,
        "model": verdict["model"],
        "passed": verdict["passed"],
        "target": _target(conversion),
        "golden": {
            "runtime": documents["golden.json"]["runtime"],
            "graph_optimization": documents["golden.json"]["graph_optimization"],
        },
        "warnings": documents["warnings.json"]["warnings"],
        "checks": verdict["checks"],
        "metric": _metric(documents["evaluation.json"]),
        "divergent_node": divergent_node(
            verdict, conversion, log, origins, measured["nodes"]
        ),
        "flips": measured.get("flips", []),
        "outputs": [_output(found) for found in measured["outputs"]],
        "nodes": _nodes(measured["nodes"], origins),
        "node_samples": measured["node_samples"],
        "rules": [_rule(rule, checked) for rule in log["rules"]],
        "rules_moved": max(moved, default=0.0),
        "emulation": _emulation(conversion, verdict),
        "metrics": _formulas(),
    }


def _formulas() -> dict[str, MetricText]:
    return {
        name: {"direction": metric.direction, "formula": metric.formula}
        for name, metric in METRICS.items()
    }


def _target(conversion: Conversion) -> Target:
    return {
        "backend": conversion["backend"],
        "is_real_device": conversion["is_real_device"],
        "cann": conversion["cann"],
        "soc_version": conversion["soc_version"],
        "precision_mode": conversion["precision_mode"],
        "words": MEASURED if conversion["is_real_device"] else EMULATED,
    }


def _metric(evaluation: Evaluation) -> EndMetric | None:
    name, direction = evaluation["metric"], evaluation["direction"]
    onnx, target = evaluation["onnx"], evaluation["target"]
    if name is None or direction is None or onnx is None or target is None:
        return None
    fall = onnx - target if direction == "higher" else target - onnx
    return {
        "name": name,
        "direction": direction,
        "torch": evaluation["torch"],
        "onnx": onnx,
        "target": target,
        "drop": fall / abs(onnx) if onnx else None,
    }


def _output(found: OutputComparison) -> OutputRow:
    metrics = dict(found["metrics"])
    if found["floored_max_relative_error"] is not None:
        metrics["floored_max_relative_error"] = found["floored_max_relative_error"]
    return {
        "pair": found["pair"],
        "name": found["name"],
        "kind": found["kind"],
        "smallest_size": found["smallest_size"],
        "metrics": [
            {
                "metric": name,
                "worst": metric["worst"],
                "mean": metric["mean"],
                "worst_sample": metric["worst_sample"],
            }
            for name, metric in metrics.items()
        ],
        "problems": [
            f"sample {found['sample']!r}: {found['problem']}" for found in found["problems"]
        ],
    }


def _nodes(measured: Sequence[NodeComparison], origins: NodesDocument) -> list[NodeRow]:
    return [
        _node(node, worst_input, cosine, origins)
        for node, worst_input, cosine in with_inputs(measured)
    ]


def _node(
    node: NodeComparison,
    worst_input: float,
    cosine: float | None,
    origins: NodesDocument,
) -> NodeRow:
    module, source = origin(node["node"], origins)
    return {
        "tensor": node["tensor"],
        "node": node["node"],
        "op_type": node["op_type"],
        "target_op": node["target_op"],
        "status": node["status"],
        "diverges": node["diverges"],
        "moved_by_rules": node.get("moved_by_rules", False),
        "metrics": node["metrics"],
        "worst_input": worst_input,
        "drop": None if cosine is None else worst_input - cosine,
        "introduced_nonfinite": node["introduced_nonfinite"],
        "problem": node["problem"],
        "module": module,
        "source": source,
    }


def _rule(rule: RuleEntry, check: Check) -> RuleRow:
    skipped: dict[str, list[str]] = {}
    for finding in rule["skipped"]:
        skipped.setdefault(finding["reason"], []).append(finding["node"])
    held = {promise["rule"]: promise["held"] for promise in check["promises"]}
    row: RuleRow = {
        "rule": rule["rule"],
        "version": rule["version"],
        "effect": rule["effect"],
        "held": held.get(rule["rule"]),
        "applied": [finding["node"] for finding in rule["applied"]],
        "skipped": skipped,
        "file": rule["file"],
        "deviations": rule["deviations"],
    }
    if "arguments" in rule:
        row["arguments"] = rule["arguments"]
    return row


def _emulation(conversion: Conversion, verdict: Verdict) -> Emulation | None:
    if conversion["is_real_device"]:
        return None
    emulation: Emulation = {
        "modelled_nodes": conversion["modelled_nodes"],
        "assumed": conversion["assumed"],
        "overflow": conversion["overflow"],
        "applied": [deviation(applied) for applied in conversion["applied"]],
    }
    judged = verdict["emulation"]
    if judged is not None and "behaviours" in judged:
        emulation["behaviours"] = judged["behaviours"]
    return emulation
