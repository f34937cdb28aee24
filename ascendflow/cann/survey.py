"""An ONNX file and a target -> the document that says all that lint found."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ascendflow.cann.cures import why_skipped
from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from ascendflow.documents.lint import SEVERITIES
from ascendflow.errors import StageError
from ascendflow.graph.constants import unread
from ascendflow.graph.load import blaming, load_to_look, why_invalid
from ascendflow.graph.order import why_unordered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.cann.lint import Finding
    from ascendflow.documents.lint import Lint, LintFinding


def survey(path: Path, config: Mapping[str, Any], *, all_weights: bool = False) -> Lint:
    """Lint the ONNX file at `path`; its weights are read only where a deviation asks.

    Args:
        path: the file.
        config: a target that `target.why_refused` has nothing against.
        all_weights: look at constants of any size (`graph.constants`).

    Raises:
        StageError: `path` is no ONNX model, or one whose nodes are in no order, or external
            data that a deviation asks for cannot be read.
    """
    model = load_to_look(path)
    if not any(True for _ in model.graph):
        raise StageError(f"{path.name}: is no ONNX file: it holds no graph")
    # onnx-ir leaves sparse initializers out, so that what reads one seems to read nothing.
    if (reason := why_unordered(model)) is not None and why_invalid(path) is not None:
        raise StageError(f"{path.name}: {reason}")
    with blaming(path), _reading(path):
        findings = _findings(model, Target.of(config), all_weights=all_weights)
        told = [_told(finding) for finding in findings]
        nodes = sum(1 for _ in model.graph.all_nodes())
        passed_over = 0 if all_weights else len(unread(model))
        for entry, reason in zip(told, why_skipped(findings, model), strict=True):
            entry["skipped"] = reason
    totals = Counter(finding.found.consequence for finding in findings)
    return {
        "schema_version": 1,
        "cann": config["cann"],
        "soc_version": config["soc_version"],
        "precision_mode": config["precision_mode"],
        "nodes": nodes,
        "unread": passed_over,
        "totals": {consequence: totals[consequence] for consequence in SEVERITIES},
        "deviations": {
            d.name: {"onnx": d.onnx, "cann": d.cann}
            for d in (f.deviation for f in findings)
        },
        "findings": told,
    }


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or "its external data"
        reason = error.strerror or str(error)
        raise StageError(f"{path.name}: cannot read {where}: {reason}") from error


def _findings(model: ir.Model, target: Target, *, all_weights: bool) -> list[Finding]:
    found = lint(model, target, all_weights=all_weights)
    return sorted(found, key=lambda each: SEVERITIES.index(each.found.consequence))


def _told(finding: Finding) -> LintFinding:
    deviation, node = finding.deviation, finding.node
    return {
        "deviation": deviation.name,
        "consequence": finding.found.consequence,
        "node": None if node is None else _text(finding.subject),
        "op_type": None if node is None else _text(node.op_type),
        "reason": finding.found.reason,
        "confidence": deviation.confidence(finding.conditions),
        "source": deviation.source,
        "rule": deviation.cure,
        "skipped": None,
        "advice": deviation.advice,
    }


def _text(name: str | bytes) -> str:
    """Return a name as text; protobuf gives one that is no UTF-8 as bytes."""
    return name if isinstance(name, str) else name.decode(errors="backslashreplace")
