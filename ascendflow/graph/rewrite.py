"""Infer shapes, apply rules in place, check the model, save it with every name kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError
from ascendflow.graph.load import blaming, give_back_shapes, load_model, with_new_shapes
from ascendflow.graph.nodes import label, nodes_of
from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.rules import RULES
from ascendflow.graph.selection import Selection, matches
from ascendflow.graph.validity import why_against_the_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import RewriteLog, RuleEntry
    from ascendflow.graph.fixed_shapes import Shapes


@dataclass(frozen=True)
class Request:
    """A rule that the manifest names.

    Attributes:
        rule: the rule's name.
        nodes: names or globs of the nodes it may touch; None for all.
        count: how many nodes may match at most; None for any number.
        arguments: what the rule works with, by name; most take none.
    """

    rule: str
    nodes: tuple[str, ...] | None = None
    count: int | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Rewriting:
    """What was done: the log, and what the user should hear of."""

    log: RewriteLog
    warnings: list[str]


Cures = Mapping[str, Mapping["ir.Node", Sequence[str]]]
"""Rule -> node -> the deviations that the rule is against there."""

ROUNDS = 4
"""A rule's nodes may need another rule, and those another; beyond that is no cure."""


def rewrite(  # noqa: PLR0913  the model, then what is done to it by name
    source: Path,
    target: Path,
    requests: Sequence[Request],
    rules: Sequence[Rule] | None = None,
    *,
    own: Sequence[Rule] = (),
    gears: Sequence[Shapes] = (),
    choose: Callable[[ir.Model], Cures] | None = None,
) -> Rewriting:
    """Apply the requested rules to the ONNX file `source` and write `target`.

    Weights in external data are read only where a rule edits them, which puts the new ones
    into `target` itself; for all others `target` refers to the same file name. Where no
    rule applies, `target` is byte for byte `source`, so that what follows stays up to
    date. The order is that of `rules`, not of `requests`; then what `choose` adds, until
    nothing new is found; then `own`.

    Args:
        source: the model.
        target: the file to write.
        requests: names of `rules` and `own`, and where they apply.
        rules: ascendflow's, unless given.
        own: the user's own.
        gears: the shapes that inputs have, by name, where their sizes stay open.
        choose: says which rules a model needs where.

    Raises:
        StageError: an unknown rule, a selector that fits nothing or too much, or a model
            that onnx's checker refuses after the edit.
    """
    rules = RULES if rules is None else rules
    requested = _by_name(requests, [*rules, *own])
    model = load_model(source, gears=gears)
    with blaming(source):
        entries, warnings = _apply(model, rules, requested)
        if choose is not None:
            if any(entry["applied"] for entry in entries):
                model = with_new_shapes(model, source.parent)
            model, chosen = _apply_chosen(model, source.parent, rules, choose)
            entries += chosen
    last, idle = _apply(model, own, requested)
    entries, warnings = entries + last, warnings + idle
    if any(entry["applied"] for entry in entries):
        _save(model, target)
    else:
        copyfile(source, target)
    return Rewriting({"schema_version": 1, "rules": entries}, warnings)


def replay(
    source: Path,
    target: Path,
    requests: Sequence[Request],
    own: Sequence[Rule] = (),
    gears: Sequence[Shapes] = (),
) -> None:
    """Apply rules in the order of `requests`, each to nodes that it did apply to.

    Raises:
        StageError: as `rewrite` does.
    """
    known = {rule.name: rule for rule in (*RULES, *own)}
    model = load_model(source, gears=gears)
    for request in requests:
        rule = known[request.rule]
        _refuse_bad_selectors(rule, request, model)
        rule.configured(request.arguments)(model, Selection(request.nodes))
        model = with_new_shapes(model, source.parent)
    _save(model, target)


def _apply(
    model: ir.Model, rules: Sequence[Rule], requested: Mapping[str, Request]
) -> tuple[list[RuleEntry], list[str]]:
    """Apply the rules that were asked for; also return why one did nothing."""
    entries: list[RuleEntry] = []
    warnings: list[str] = []
    for rule in rules:
        if (request := requested.get(rule.name)) is None:
            continue
        _refuse_bad_selectors(rule, request, model)
        findings = rule.configured(request.arguments)(model, Selection(request.nodes))
        entries.append(_entry(rule, findings, arguments=request.arguments))
        if not any(isinstance(finding, Applied) for finding in findings):
            warnings.append(_why_idle(rule, findings))
    return entries, warnings


def _apply_chosen(
    model: ir.Model,
    folder: Path,
    rules: Sequence[Rule],
    choose: Callable[[ir.Model], Cures],
) -> tuple[ir.Model, list[RuleEntry]]:
    """Apply what `choose` says, and look again, as long as that finds anything new."""
    entries: list[RuleEntry] = []
    tried: set[tuple[str, str]] = set()
    for _ in range(ROUNDS):
        cures = choose(model)
        new = []
        for rule in rules:
            nodes = {n: label(n) for n in cures.get(rule.name, {}) if n.graph is not None}
            nodes = {n: name for n, name in nodes.items() if (rule.name, name) not in tried}
            tried |= {(rule.name, name) for name in nodes.values()}
            if not nodes:
                continue
            deviations: dict[str, list[str]] = {}
            for node, name in nodes.items():
                for deviation in cures[rule.name][node]:
                    deviations.setdefault(deviation, []).append(name)
            findings = [rule.at(node, model) for node in nodes]
            new.append(_entry(rule, findings, deviations))
        entries += new
        if not any(entry["applied"] for entry in new):
            break
        model = with_new_shapes(model, folder)
    return model, entries


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


def _entry(
    rule: Rule,
    findings: Sequence[Finding],
    deviations: Mapping[str, list[str]] | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> RuleEntry:
    entry: RuleEntry = {
        "rule": rule.name,
        "version": rule.version,
        "effect": rule.effect,
        "file": rule.file,
        "deviations": dict(deviations or {}),
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
    if arguments:
        entry["arguments"] = dict(arguments)
    return entry


def _why_idle(rule: Rule, findings: Sequence[Finding]) -> str:
    """Say why a rule that the user asked for did nothing, each reason once."""
    reasons = Counter(f.reason for f in findings if isinstance(f, Skipped))
    if not reasons:
        types = " or ".join(sorted(rule.op_types))
        return f"rule {rule.name!r} applied to nothing: the graph has no {types} node"
    listed = "; ".join(f"{reason} ({count} nodes)" for reason, count in reasons.items())
    return f"rule {rule.name!r} applied to nothing: {listed}"


def _save(model: ir.Model, target: Path) -> None:
    import onnx_ir as ir

    give_back_shapes(model)
    _drop_needless_imports(model)
    proto = ir.to_proto(model)
    if (reason := why_against_the_rules(proto)) is not None:
        raise StageError(f"rewrite: the edited model is not valid ONNX: {reason}")
    target.write_bytes(proto.SerializeToString(deterministic=True))


def _drop_needless_imports(model: ir.Model) -> None:
    """Drop imports whose last node a rule replaced: ATC takes a model with one only."""
    used = {node.domain for node in nodes_of(model)} | set(DEFAULT_DOMAINS)
    used |= {domain for domain, _, _ in model.functions}
    for domain in model.graph.opset_imports.keys() - used:
        del model.graph.opset_imports[domain]
