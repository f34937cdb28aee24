"""What is known of a node: where it comes from, what deviates there, and what cures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ascendflow.atc_words import FORCE_FP16
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.documents.metrics import NodeComparison
    from ascendflow.documents.nodes import NodesDocument
    from ascendflow.documents.report import Cause, Cure, Deviation, DivergentNode, Overflow
    from ascendflow.documents.rewrite_log import RewriteLog
    from ascendflow.documents.verdict import Verdict


def divergent_node(
    verdict: Verdict,
    conversion: Mapping[str, Any],
    log: RewriteLog,
    origins: NodesDocument,
    compared: Sequence[NodeComparison],
) -> DivergentNode | None:
    """Join what is known of the node that the verdict names."""
    node = verdict["first_divergent_node"]
    if node is None:
        return None
    module, source = origin(node["name"], origins)
    row = next((row for row in compared if row["tensor"] == node["tensor"]), None)
    return {
        **node,
        "keepable": _is_keepable(node["name"], conversion),
        "overflow": _overflow(row, compared, conversion),
        "underflow": None if row is None else row.get("underflow"),
        "module": module,
        "source": source,
        "causes": [
            _cause(applied, node["name"], log)
            for applied in conversion["applied"]
            if node["name"] in applied["nodes"]
        ],
    }


def _overflow(
    row: NodeComparison | None,
    compared: Sequence[NodeComparison],
    conversion: Mapping[str, Any],
) -> Overflow | None:
    """Find what left float16: the divergent node's own values, or those that it reads."""
    if row is None:
        return None
    read = [each for each in compared if each["tensor"] in row["inputs"]]
    for each in (row, *read):
        largest = _beyond_half(each["statistics"], conversion["precision_mode"])
        if largest is not None:
            return {
                "node": each["node"],
                "op_type": each["op_type"],
                "largest": largest,
                "keepable": _is_keepable(each["node"], conversion),
            }
    return None


def _is_keepable(node: str, conversion: Mapping[str, Any]) -> bool | None:
    """Say whether keep_dtype would do anything for a node; None where nobody knows."""
    known: list[str] | None = conversion.get("keepable")
    return None if known is None else node in known


def _beyond_half(statistics: Mapping[str, Any], mode: str) -> float | None:
    """Return how large ONNX's values are, where float16 holds them no more.

    In whatever mode: the target, which has none so large, kept them in it.
    """
    largest = statistics.get("golden_largest")
    if not isinstance(largest, float) or largest <= HALF_MAX:
        return None
    there = statistics.get("target_largest")
    if not isinstance(there, float):
        return largest if mode == FORCE_FP16 else None
    return largest if there <= HALF_MAX else None


def origin(node: str, origins: NodesDocument) -> tuple[str, str]:
    """Return module path and source line of a node; "" where nothing is known."""
    found = origins["nodes"].get(node)
    return (found["module"], found["source"]) if found else ("", "")


def deviation(applied: Mapping[str, Any]) -> Deviation:
    """Tell one emulated deviation without its list of nodes."""
    told: Deviation = {
        "deviation": applied["deviation"],
        "nodes": len(applied["nodes"]) or None,
        "confidence": applied["confidence"],
        "source": applied["source"],
        "rule": applied.get("rule"),
    }
    if "behaviours" in applied:
        told["behaviours"] = applied["behaviours"]
    return told


def _cause(applied: Mapping[str, Any], node: str, log: RewriteLog) -> Cause:
    rule = applied.get("rule")
    cause: Cause = {
        "deviation": applied["deviation"],
        "nodes": len(applied["nodes"]),
        "confidence": applied["confidence"],
        "source": applied["source"],
        "cure": None if rule is None else _cure(rule, node, log),
    }
    if "behaviours" in applied:
        cause["behaviours"] = applied["behaviours"]
    return cause


def _cure(rule: str, node: str, log: RewriteLog) -> Cure:
    entries = [entry for entry in log["rules"] if entry["rule"] == rule]
    state: Literal["not_named", "other_nodes", "skipped", "applied"] = "not_named"
    reason = None
    if entries:
        skipped = {
            found["node"]: found["reason"] for e in entries for found in e["skipped"]
        }
        if any(found["node"] == node for e in entries for found in e["applied"]):
            state = "applied"
        elif node in skipped:
            state, reason = "skipped", skipped[node]
        else:
            state = "other_nodes"
    return {"rule": rule, "state": state, "reason": reason}
