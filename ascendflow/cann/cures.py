"""Whether the rule against a deviation would do something about it, tried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.rule import Skipped
from ascendflow.graph.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

    from ascendflow.cann.lint import Finding
    from ascendflow.graph.rule import Rule


def why_skipped(findings: Sequence[Finding], model: ir.Model) -> list[str | None]:
    """Try each cure on its node; give why it left the node alone, None where it did not.

    Args:
        findings: what lint found in `model`.
        model: is edited; of no use afterwards.
    """
    reasons: list[str | None] = [None] * len(findings)
    for rule in RULES:
        tried: dict[ir.Node, str | None] = {}
        for index, finding in enumerate(findings):
            if finding.deviation.cure == rule.name and finding.node is not None:
                if finding.node not in tried:
                    tried[finding.node] = _tried(rule, finding.node, model)
                reasons[index] = tried[finding.node]
    return reasons


def _tried(rule: Rule, node: ir.Node, model: ir.Model) -> str | None:
    if node.graph is None:  # a rule before it took the node away
        return None
    if node.op_type not in rule.op_types:
        return f"it does not edit {node.op_type} nodes"
    if rule.arguments:
        return f"it needs to be told {', '.join(sorted(rule.arguments))}"
    outcome = rule.at(node, model)
    return outcome.reason if isinstance(outcome, Skipped) else None
