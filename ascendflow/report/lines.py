"""A verdict in a few lines of plain text; standard library only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.report.measured import measured_lines
from ascendflow.report.ways import export_lines, overflow_lines, rounding_lines
from ascendflow.report.words import (
    FLOORED,
    REASONS,
    confidence_words,
    counted,
    lossy_line,
    manifest_line,
    near_one,
    shown,
    target_noun,
    target_words,
    threshold_words,
    value_words,
)
from ascendflow.terminal import printable
from ascendflow.vocabulary import LOSSY_RULES, RULE_ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_CHECKS = 8
"""Failed checks that are told one by one."""

LONGEST_WARNING = 240
"""Characters of a warning on the console; the report holds it whole."""

NODE_METRICS = ("cosine_similarity", "relative_euclidean_distance", "mismatch_rate")

TOLD_REASONS = ("nonfinite", "incomparable")
"""Reasons that the metrics of a node do not show."""


def verdict_line(verdict: Mapping[str, Any]) -> str:
    """Say in one line whether a model passed, and on what."""
    checks = verdict["checks"]
    failed = sum(not check["passed"] for check in checks)
    count = counted(len(checks), "check")
    if failed:
        count = f"{failed} of {count} failed"
    state = "passed" if verdict["passed"] else "FAILED"
    return f"{verdict['model']}: {state} ({count}; {target_words(verdict)})"


def warning_line(warning: Mapping[str, Any]) -> str:
    """Tell in one line what a stage warned of."""
    text = " ".join(warning["text"].split())
    if len(text) > LONGEST_WARNING:
        text = f"{text[: LONGEST_WARNING - 3]}..."
    return printable(f"warning: {warning['stage']}: {text}")


def failure_message(verdict: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Say what failed, where it began, why, and what cures it.

    Args:
        verdict: `verdict.json`.
        report: `report.json` of the same run.
    """
    failed = [check for check in verdict["checks"] if not check["passed"]]
    lines = [f"gate: {check_words(check)}" for check in failed[:MOST_CHECKS]]
    if (more := len(failed) - MOST_CHECKS) > 0:
        lines.append(f"gate: {counted(more, 'more check')} failed")
    if report["metric"] is not None:
        lines.append(f"gate: {metric_words(report)}")
    lines += [f"gate: {line}" for line in unknown_lines(report)]
    lines += [f"gate: {line}" for line in node_lines(report)]
    lines += [f"gate: {line}" for line in measured_lines(report)]
    lines += [
        f"  hint: {line}"
        for line in (
            *_few_lines(failed, report),
            *export_lines(failed, report),
            *_cure_lines(report),
            *overflow_lines(report),
            *rounding_lines(failed, report),
            *auto_lines(report),
            *_near_tie_lines(report),
        )
    ]
    return "\n".join([verdict_line(verdict), *lines])


def _few_lines(failed: list[Mapping[str, Any]], report: Mapping[str, Any]) -> Iterator[str]:
    """Yield why an output failed a check that the manifest does not name."""
    names = [check["subject"] for check in failed if check["metric"] == FLOORED]
    for name in dict.fromkeys(names):
        size = min(o["smallest_size"] for o in report["outputs"] if o["name"] == name)
        yield printable(
            f"{name} has {counted(size, 'element')}, where cosine similarity says "
            "little, so max relative error (denominator at least 1e-6 of the golden's "
            "range) is judged too; name max_relative_error under "
            f"gate.outputs.{name} to set the limit yourself"
        )


def golden_words(report: Mapping[str, Any]) -> str:
    """Say what computed the golden, and how: other levels of optimisation differ."""
    golden = report["golden"]
    return f"{golden['runtime']}, graph optimisation {golden['graph_optimization']}"


def rewritten_words(report: Mapping[str, Any]) -> str:
    """Say which rules edited the model, and what that did to the golden; "" for none."""
    named = [
        f"{rule['rule']}@{rule['version']} ({counted(len(rule['applied']), 'node')}"
        f"{', lossy' if rule['effect'] == 'lossy' else ''})"
        for rule in report["rules"]
        if rule["applied"]
    ]
    if not named:
        return ""
    moved = report["rules_moved"]
    what = f"moved by up to {shown(moved)} (max absolute error)" if moved else "unchanged"
    return f"rewritten by {', '.join(named)}: golden {what} in onnxruntime"


def check_words(check: Mapping[str, Any]) -> str:
    """One check: value, threshold, pair, and the sample that was worst."""
    metric, problem = check["metric"], check["problem"]
    where = check["pair"]
    if check["sample"] is not None and not str(problem).startswith("sample "):
        where += f", worst sample {check['sample']!r}"
    must = f"must be {threshold_words(check['threshold'])} ({where})"
    subject = repr(check["subject"])
    if problem is not None:
        words = f"{subject}: {metric} {must}: {problem}"
    else:
        under = f" if {check['behaviour']}" if "behaviour" in check else ""
        words = f"{subject}: {metric} is {value_words(check)}{under}, {must}"
        if isinstance(check["value"], str):
            words += "; what is not finite never passes"
    return printable(words)


def metric_words(report: Mapping[str, Any]) -> str:
    """The end metric on every model, in one line."""
    metric = report["metric"]
    values = (
        ("PyTorch", metric["torch"]),
        ("ONNX", metric["onnx"]),
        (target_noun(report["target"]), metric["target"]),
    )
    told = ", ".join(f"{name} {shown(v)}" for name, v in values if v is not None)
    return printable(f"{metric['name']} ({metric['direction']} is better): {told}")


def unknown_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what no source says of the target, and what is shown instead."""
    emulation = report["emulation"] or {}
    if (behaviours := emulation.get("behaviours")) is None:
        return
    undecided = ", ".join(
        f"{d['deviation']} ({counted(d['nodes'], 'node')})"
        for d in emulation["applied"]
        if "behaviours" in d
    )
    first, second = behaviours["names"]
    yield printable(
        f"unknown on CANN {report['target']['cann']}: {undecided}: either {first}, or "
        f"{second}; both were computed, the worse is shown: each number of an output, and "
        f"the end metric, is the worse of the two; nodes are as if {behaviours['nodes']}"
    )


def node_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield which node diverges first, where it comes from, and what is known of it."""
    node = report["divergent_node"]
    if node is None:
        return
    what = (
        "no node is beyond a limit; largest drop of cosine similarity"
        if node["reason"] == "largest_drop"
        else "first divergent node"
    )
    yield f"{what}: {node_words(node)}"
    if node["module"] or node["source"]:
        places = " at ".join(filter(None, (node["module"], node["source"])))
        yield printable(f"{node['name']} comes from {places}")
    for cause in node["causes"]:
        others = counted(cause["nodes"] - 1, "more node")
        where = f"here and at {others}" if cause["nodes"] > 1 else "here"
        known = f"{cause['deviation']}, {where} ({confidence_words(cause)})"
        kind = "possible" if "behaviours" in cause else "known"
        yield printable(f"{kind} cause: {known}")
    if not node["causes"] and report["emulation"] is not None:
        yield _only_everywhere(report["emulation"])


def _only_everywhere(emulation: Mapping[str, Any]) -> str:
    everywhere = ", ".join(
        f"{d['deviation']} ({confidence_words(d)})"
        for d in emulation["applied"]
        if d["nodes"] is None
    )
    words = "no emulated deviation is particular to this node"
    return f"{words}; of all nodes holds: {everywhere}" if everywhere else words


def node_words(node: Mapping[str, Any]) -> str:
    """Name a node by its ONNX name, its operator and the operator of the target."""
    operator = node["op_type"]
    if node["target_op"]:
        operator += f", {node['target_op']} on the target"
    metrics = node["metrics"]
    told = [f"{name} {near_one(metrics[name])}" for name in NODE_METRICS if name in metrics]
    if node["reason"] in TOLD_REASONS:
        told.insert(0, REASONS[node["reason"]])
    return printable(f"{node['name']} ({operator}): {', '.join(told)}")


def _cure_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to do about the known causes of the divergent node."""
    node = report["divergent_node"]
    causes = node["causes"] if node is not None else []
    for cure in (cause["cure"] for cause in causes if cause["cure"] is not None):
        yield printable(cure_words(cure, report))


def auto_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what `rules: auto` would apply, where the manifest does not say it."""
    rules = report["rules"]
    named = {rule["rule"] for rule in rules}
    beyond = named.union(LOSSY_RULES, RULE_ARGUMENTS)  # what auto leaves to the user
    applied = (report["emulation"] or {"applied": []})["applied"]
    known = dict.fromkeys(each["rule"] for each in applied if each["rule"] is not None)
    missing = [rule for rule in known if rule not in beyond]
    if missing and not any(rule["deviations"] for rule in rules):
        yield (
            f"`rewrite: {{rules: auto}}` applies every rule that the target needs and that "
            f"changes nothing beyond rounding; here that would add {', '.join(missing)}"
        )


def _near_tie_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to do about choices that any rounding turns."""
    names = [
        each["output"]
        for each in report["flips"]
        if each["places"] is not None and each["places"]["near"]
    ]
    for name in dict.fromkeys(names):
        yield printable(
            f"near ties of {name} turn with any rounding: allow for them by mismatch_rate "
            f"under gate.outputs.{name}, or judge an end metric"
        )


def cure_words(cure: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Say how to write a rule in the manifest, or why that was not enough."""
    rule, manifest = cure["rule"], f"pipelines/{report['model']}/manifest.yaml"
    if cure["state"] == "skipped":
        return f"rule {rule!r} is against this, but skipped the node: {cure['reason']}"
    if cure["state"] == "applied":
        return f"rule {rule!r} was applied to this node already and is not enough"
    if cure["state"] == "other_nodes":
        what = f"add this node to the `nodes` of rule {rule!r} in {manifest}"
    elif rule in LOSSY_RULES:
        line, cost = lossy_line([rule]), LOSSY_RULES[rule]
        return f"try in {manifest}: {line} (lossy: {cost}; a build shows whether it helps)"
    elif report["rules"]:
        what = f"add {rule} to `rewrite.rules` in {manifest}"
    else:
        what = f"write in {manifest}: {manifest_line(rule)}"
    return f"{what} (cures it under emulation; a device run confirms)"
