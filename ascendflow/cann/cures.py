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
    if (name := _no_text(model)) is not None:
        reason = f"no rule edits a model with a name that is not UTF-8: {name!r}"
        return [reason if each.deviation.cure else None for each in findings]
    for rule in RULES:
        tried: dict[ir.Node, str | None] = {}
        for index, finding in enumerate(findings):
            if finding.deviation.cure == rule.name and finding.node is not None:
                if finding.node not in tried:
                    tried[finding.node] = _tried(rule, finding.node, model)
                reasons[index] = tried[finding.node]
    return reasons


def _no_text(model: ir.Model) -> bytes | None:
    """Return a name of a node or a tensor that protobuf gives as bytes, or None."""
    names: list[str | bytes | None] = [value.name for value in model.graph.inputs]
    for node in model.graph.all_nodes():
        names += [node.name, *(v.name for v in (*node.inputs, *node.outputs) if v)]
    return next((name for name in names if isinstance(name, bytes)), None)


def _tried(rule: Rule, node: ir.Node, model: ir.Model) -> str | None:
    if node.graph is None:  # a rule before it took the node away
        return None
    if not (nodes := rule.against(node, model)):
        return f"it edits {' or '.join(sorted(rule.op_types))} nodes, and finds none there"
    if rule.arguments:
        return f"it needs to be told {', '.join(sorted(rule.arguments))}"
    outcomes = [rule.at(each, model) for each in nodes if each.graph is not None]
    reasons = [each.reason for each in outcomes if isinstance(each, Skipped)]
    return reasons[0] if reasons else None
