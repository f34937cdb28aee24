"""What becomes of what lint found: an error, or what a conversion's document tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.backends.emulator.refusals import node_gaps, raise_gaps
from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.kernel_dtype import KernelDtype
from ascendflow.graph.nodes import label

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.cann.detection import Found
    from ascendflow.cann.lint import Finding
    from ascendflow.cann.target import Target
    from ascendflow.documents.conversion import AppliedDeviation

CAST_FUSION = "cube-cast-fusion"
CAST_FUSION_SOURCE = (
    "canndev MatmulCastFusionPass; CANN 8.1.RC1 fusion_config.json ConvCastFusionPass"
)


def refuse_nodes(model: ir.Model, target: Target, findings: list[Finding]) -> None:
    """Raise one error about all that cannot be lowered, or do nothing."""
    blamed: list[tuple[ir.Node | None, Found]] = []
    beyond = set()
    for node in model.graph.all_nodes():
        found = list(node_gaps(node))
        blamed.extend((node, each) for each in found)
        if found or node.graph is not model.graph:
            beyond.add(node)
    in_the_way = [
        finding
        for finding in findings
        if (
            finding.found.consequence == "rejected"
            or (finding.is_unknown and not finding.found.behaviours)
        )
        and not (finding.deviation.name == KernelDtype.name and finding.node in beyond)
    ]
    blamed += [(finding.node, finding.found) for finding in in_the_way]
    raise_gaps(blamed, target.profile.version, _advice(in_the_way))


def _advice(in_the_way: list[Finding]) -> list[str]:
    """Say what cures these findings, each cure once."""
    texts = [
        f"try rule {f.deviation.cure!r} of the rewrite stage"
        if f.deviation.cure
        else f.deviation.advice
        for f in in_the_way
    ]
    return list(dict.fromkeys(filter(None, texts)))


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
