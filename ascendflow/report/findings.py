"""What lint found, as lines of text; of a document, so nothing is looked at anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ascendflow.documents.lint import SEVERITIES
from ascendflow.report.words import counted, lossy_line
from ascendflow.terminal import printable
from ascendflow.vocabulary import LOSSY_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.lint import Consequence, Lint, LintFinding

LEVELS: dict[Consequence, str] = {
    "rejected": "error",
    "silent": "warning",
    "precision": "note",
    "unknown": "note",
}
"""How grave each consequence is, in SARIF's words, where nothing stops at it."""

Lines = Mapping[str, str]
_NO_LINES: Lines = {}

NAMED = 8
"""Nodes that a summary names."""


def totals_line(name: str, lint: Lint) -> str:
    """Sum up in one line."""
    told = ", ".join(f"{lint['totals'][each]} {each}" for each in SEVERITIES)
    if stopped := sum(1 for _ in _not_computed(lint)):
        told += f" ({stopped} {'stops convert' if stopped == 1 else 'stop convert'})"
    target = f"CANN {lint['cann']}, {lint['soc_version']}, {lint['precision_mode']}"
    passed_over = ""
    if lint["unread"]:
        large = counted(lint["unread"], "large constant")
        passed_over = f"; {large} not looked at, --all-weights does"
    nodes = counted(lint["nodes"], "node")
    return printable(f"{name}: {told} ({nodes}; {target}{passed_over})")


def level(found: LintFinding) -> str:
    """Say how grave a finding is: what a pipeline stops at is an error."""
    return "error" if found["stops_convert"] else LEVELS[found["consequence"]]


def blamed(found: LintFinding, lines: Lines = _NO_LINES) -> str:
    """Name the node, its operator, and the user's line that made it; or the model."""
    if found["node"] is None:
        return "the model"
    line = lines.get(found["node"])
    return f"node {found['node']!r} ({found['op_type']}{f', {line}' if line else ''})"


def cure_words(found: LintFinding) -> str:
    """Say which rule cures it, or why none does and what to do instead."""
    if found["rule"] is None:
        instead = f"; {found['advice']}" if found["advice"] else ""
        return f"no rule cures it{instead}"
    if found["skipped"] is None:
        return f"cure: rule {found['rule']}{_cost(found['rule'])}"
    return f"rule {found['rule']} is against it, but skips the node: {found['skipped']}"


def _cost(rule: str) -> str:
    """Say what a lossy rule costs, and that the user has to write it down; "" of others."""
    if rule not in LOSSY_RULES:
        return ""
    return (
        f", lossy: {LOSSY_RULES[rule]}; auto leaves it out, write "
        f"`{lossy_line([rule])}` if the gate is to judge that"
    )


def refusal_text(lint: Lint, *, emulated: bool, lines: Lines = _NO_LINES) -> str:
    """Tell all for which `convert` would refuse the model, each with its cure; or "".

    What is not known stops the emulator alone: ATC finds out.

    Args:
        lint: what was found.
        emulated: whether the emulator converts.
        lines: node -> the user's line that made it, where it is known.
    """
    rejected = [f for f in lint["findings"] if f["consequence"] == "rejected"]
    not_computed = list(_not_computed(lint)) if emulated else []
    parts = [
        (f"CANN {lint['cann']} refuses:", rejected),
        ("the emulator has no model of:", not_computed),
    ]
    told = [
        "\n".join([head, *(_refused(each, lines) for each in found)])
        for head, found in parts
        if found
    ]
    return "\nand ".join(told)


def _not_computed(lint: Lint) -> Iterator[LintFinding]:
    for found in lint["findings"]:
        if found["stops_convert"] and found["consequence"] == "unknown":
            yield found


def _refused(found: LintFinding, lines: Lines) -> str:
    return printable(f"  {blamed(found, lines)}: {found['reason']}; {cure_words(found)}")


def warning_texts(lint: Lint, *, emulated: bool, lines: Lines = _NO_LINES) -> Iterator[str]:
    """Tell what comes out otherwise, or may: one text for each deviation and consequence.

    Of what is not known a report of the emulator tells more. The arguments are those of
    `refusal_text`.
    """
    told = ("silent", "precision") if emulated else ("silent", "precision", "unknown")
    groups: dict[tuple[str, str, str | None], list[LintFinding]] = {}
    for found in lint["findings"]:
        if found["consequence"] in told:
            key = (found["deviation"], found["consequence"], found["advice"])
            groups.setdefault(key, []).append(found)
    for (deviation, consequence, _), group in groups.items():
        first = group[0]
        nodes = [_placed(found["node"], lines) for found in group if found["node"]]
        shown = ", ".join(nodes[:NAMED]) + (", ..." if len(nodes) > NAMED else "")
        where = f"{counted(len(nodes), 'node')} ({shown})" if nodes else "the whole model"
        head = f"{deviation}, {consequence}, confidence {first['confidence']}, {where}"
        yield f"{head}: {first['reason']}; {cure_words(first)}"


def _placed(node: str, lines: Lines) -> str:
    """Name a node, with the user's line that made it, where it is known."""
    return f"{node} at {lines[node]}" if lines.get(node) else node
