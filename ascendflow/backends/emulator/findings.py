"""What becomes of what lint found: what a conversion's document tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.whole_graph import CAST_FUSION, CAST_FUSION_SOURCE
from ascendflow.graph.nodes import label

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.cann.lint import Finding
    from ascendflow.documents.conversion import AppliedDeviation


def applied(findings: list[Finding]) -> list[AppliedDeviation]:
    """List the deviations that change values, or may, with their nodes."""
    listed: dict[str, AppliedDeviation] = {}
    for finding in findings:
        deviation = finding.deviation
        if not deviation.is_emulated:
            continue
        new: AppliedDeviation = {
            "deviation": deviation.name,
            "nodes": [],
            "rule": deviation.cure,
            "confidence": deviation.confidence(finding.conditions),
            "source": deviation.source,
        }
        if finding.found.behaviours:
            new["behaviours"] = list(finding.found.behaviours)
        entry = listed.setdefault(deviation.name, new)
        entry["nodes"].append(finding.subject)
    order = [deviation.name for deviation in DEVIATIONS]
    return sorted(listed.values(), key=lambda entry: order.index(entry["deviation"]))


def behaviours(findings: list[Finding]) -> tuple[str, ...]:
    """Name the two graphs that there are where something is unknown; () for one graph."""
    found = dict.fromkeys(f.found.behaviours for f in findings if f.found.behaviours)
    return tuple("; ".join(each) for each in zip(*found, strict=True))


def fusions(fused: list[ir.Node]) -> list[AppliedDeviation]:
    """Tell of the nodes that are one kernel with the Casts behind them."""
    if not fused:
        return []
    names = [label(node) for node in fused]
    return [
        {
            "deviation": CAST_FUSION,
            "nodes": names,
            "rule": None,
            "confidence": "medium",
            "source": CAST_FUSION_SOURCE,
        }
    ]
