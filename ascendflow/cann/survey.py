"""An ONNX file and a target -> the document that says all that lint found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ascendflow.cann.cures import why_skipped
from ascendflow.cann.lint import lint_gears
from ascendflow.cann.target import Target
from ascendflow.documents.lint import SEVERITIES
from ascendflow.graph.constants import unread
from ascendflow.graph.gears import lend_gears
from ascendflow.graph.load import load_to_look
from ascendflow.graph.soundness import load_sound, looking_at
from ascendflow.graph.text import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.cann.lint import Finding
    from ascendflow.documents.lint import DeviationText, Lint, LintFinding
    from ascendflow.graph.fixed_shapes import Shapes


def survey(
    path: Path,
    config: Mapping[str, Any],
    *,
    all_weights: bool = False,
    shapes: Shapes | None = None,
    gears: Sequence[Shapes] = (),
) -> Lint:
    """Lint the ONNX file at `path`; its weights are read only where a deviation asks.

    Args:
        path: the file.
        config: a target that `target.why_refused` has nothing against.
        all_weights: look at constants of any size (`graph.constants`).
        shapes: of inputs, by name, instead of what the file leaves open.
        gears: all such that it is built for, where they stay open.

    Raises:
        StageError: `path` is no ONNX model that can be run (`graph.soundness`), or
            external data that a deviation asks for cannot be read.
        UsageError: `shapes` are not those of its inputs.
    """
    model = load_sound(path, shapes)
    with looking_at(path):
        lend_gears(model, gears)
        findings = _findings(model, Target.of(config), all_weights=all_weights)
        told = [_told(finding) for finding in findings]
        nodes = sum(1 for _ in model.graph.all_nodes())
        passed_over = 0 if all_weights else len(unread(model))
        for entry, reason in zip(told, why_skipped(findings, model), strict=True):
            entry["skipped"] = reason
    deviations = [finding.deviation for finding in findings]
    texts: dict[str, DeviationText] = {
        each.name: {"onnx": each.onnx, "cann": each.cann} for each in deviations
    }
    return {
        **_document(config, nodes, told),
        "unread": passed_over,
        "deviations": texts,
    }


def unsurveyed(path: Path, config: Mapping[str, Any]) -> Lint:
    """Return the document of a target of which nothing is known: no findings.

    Raises:
        StageError: `path` is no ONNX model.
    """
    nodes = sum(1 for _ in load_to_look(path).graph.all_nodes())
    return _document(config, nodes, [])


def _document(config: Mapping[str, Any], nodes: int, told: list[LintFinding]) -> Lint:
    totals = Counter(finding["consequence"] for finding in told)
    return {
        "schema_version": 1,
        "cann": config["cann"],
        "soc_version": config["soc_version"],
        "precision_mode": config["precision_mode"],
        "nodes": nodes,
        "unread": 0,
        "totals": {consequence: totals[consequence] for consequence in SEVERITIES},
        "deviations": {},
        "findings": told,
    }


def _findings(model: ir.Model, target: Target, *, all_weights: bool) -> list[Finding]:
    found = lint_gears(model, target, all_weights=all_weights)
    return sorted(found, key=lambda each: SEVERITIES.index(each.found.consequence))


def _told(finding: Finding) -> LintFinding:
    deviation, node = finding.deviation, finding.node
    return {
        "deviation": deviation.name,
        "consequence": finding.found.consequence,
        "node": None if node is None else spelled(finding.subject),
        "op_type": None if node is None else spelled(node.op_type),
        "reason": finding.found.reason,
        "stops_convert": finding.stops_convert,
        "confidence": deviation.confidence(finding.conditions),
        "source": deviation.source,
        "rule": deviation.cure,
        "skipped": None,
        "advice": finding.advice,
    }
