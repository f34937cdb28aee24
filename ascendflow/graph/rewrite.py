"""Infer shapes, apply rules in place, check the model, save it with every name kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from shutil import copyfile
from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.load import give_back_shapes, load_model, without_weights
from ascendflow.graph.nodes import label
from ascendflow.graph.rule import Applied, Finding, Rule, Selection, Skipped, matches
from ascendflow.graph.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import RewriteLog, RuleEntry


@dataclass(frozen=True)
class Request:
    """A rule that the manifest names.

    Attributes:
        rule: the rule's name.
        nodes: names or globs of the nodes it may touch; None for all.
        count: how many nodes may match at most; None for any number.
    """

    rule: str
    nodes: tuple[str, ...] | None = None
    count: int | None = None


@dataclass(frozen=True)
class Rewriting:
    """What was done: the log, and what the user should hear of."""

    log: RewriteLog
    warnings: list[str]


def rewrite(
    source: Path,
    target: Path,
    requests: Sequence[Request],
    rules: Sequence[Rule] | None = None,
) -> Rewriting:
    """Apply the requested rules to the ONNX file `source` and write `target`.

    Weights in external data are never read; `target` refers to the same file name. Where
    no rule applies, `target` is byte for byte `source`, so that what follows stays up to
    date. The order is that of `rules`, not of `requests`.

    Raises:
        StageError: an unknown rule, a selector that fits nothing or too much, or a model
            that onnx's checker refuses after the edit.
    """
    rules = RULES if rules is None else rules
    requested = _by_name(requests, rules)
    model = load_model(source)
    entries: list[RuleEntry] = []
    warnings: list[str] = []
    for rule in rules:
        if (request := requested.get(rule.name)) is None:
            continue
        _refuse_bad_selectors(rule, request, model)
        findings = rule(model, Selection(request.nodes))
        entries.append(_entry(rule, findings))
        if not any(isinstance(finding, Applied) for finding in findings):
            warnings.append(_why_idle(rule, findings))
    if any(entry["applied"] for entry in entries):
        _save(model, target)
    else:
        copyfile(source, target)
    return Rewriting({"schema_version": 1, "rules": entries}, warnings)


def _by_name(requests: Sequence[Request], rules: Sequence[Rule]) -> dict[str, Request]:
    known = [rule.name for rule in rules]
    requested: dict[str, Request] = {}
    for request in requests:
        if request.rule not in known:
            close = get_close_matches(request.rule, known, n=1)
            raise StageError(
                f"rewrite: {request.rule!r} is not a rule",
                hint=f"did you mean {close[0]!r}?"
                if close
                else f"rules: {', '.join(known)}",
            )
        if request.rule in requested:
            raise StageError(
                f"rewrite: rule {request.rule!r} is named twice",
                hint="name it once, and list all its nodes there",
            )
        requested[request.rule] = request
    return requested


def _refuse_bad_selectors(rule: Rule, request: Request, model: ir.Model) -> None:
    names = [label(node) for node in rule.candidates(model)]
    problems = [
        _why_nothing_matches(pattern, rule, model, names)
        for pattern in request.nodes or ()
        if not any(matches(name, pattern) for name in names)
    ]
    selection = Selection(request.nodes)
    found = [name for name in names if selection.includes(name)]
    if request.count is not None and len(found) > request.count:
        shown = ", ".join(found[:8]) + (", ..." if len(found) > 8 else "")
        problems.append(f"{len(found)} nodes match, count allows {request.count}: {shown}")
    if problems:
        text = "\n".join(f"rewrite: rule {rule.name!r}: {problem}" for problem in problems)
        raise StageError(
            text, hint="correct `nodes` or `count` of the rule in the manifest"
        )


def _why_nothing_matches(
    pattern: str, rule: Rule, model: ir.Model, names: Sequence[str]
) -> str:
    types = " or ".join(sorted(rule.op_types))
    for node in model.graph.all_nodes():
        if label(node) == pattern:
            return f"node {pattern!r} is a {node.op_type}, the rule edits {types}"
    close = get_close_matches(pattern, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"no {types} node is called {pattern!r}{hint}"


def _entry(rule: Rule, findings: Sequence[Finding]) -> RuleEntry:
    return {
        "rule": rule.name,
        "version": rule.version,
        "effect": rule.effect,
        "applied": [
            {
                "node": label(finding.node),
                "op_type": finding.node.op_type,
                "before": dict(finding.before),
                "after": dict(finding.after),
            }
            for finding in findings
            if isinstance(finding, Applied)
        ],
        "skipped": [
            {
                "node": label(finding.node),
                "op_type": finding.node.op_type,
                "reason": finding.reason,
            }
            for finding in findings
            if isinstance(finding, Skipped)
        ],
    }


def _why_idle(rule: Rule, findings: Sequence[Finding]) -> str:
    """Say why a rule that the user asked for did nothing, each reason once."""
    reasons = Counter(f.reason for f in findings if isinstance(f, Skipped))
    if not reasons:
        types = " or ".join(sorted(rule.op_types))
        return f"rule {rule.name!r} applied to nothing: the graph has no {types} node"
    listed = "; ".join(f"{reason} ({count} nodes)" for reason, count in reasons.items())
    return f"rule {rule.name!r} applied to nothing: {listed}"


def _save(model: ir.Model, target: Path) -> None:
    import onnx
    import onnx_ir as ir

    give_back_shapes(model)
    proto = ir.to_proto(model)
    try:
        onnx.checker.check_model(without_weights(proto))
    except onnx.checker.ValidationError as error:
        raise StageError(f"rewrite: the edited model is not valid ONNX: {error}") from error
    target.write_bytes(proto.SerializeToString(deterministic=True))
