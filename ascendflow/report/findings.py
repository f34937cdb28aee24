"""What lint found, as lines of text; of a document, so nothing is looked at anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.documents.lint import SEVERITIES
from ascendflow.report.words import counted
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.lint import Consequence, Lint, LintFinding

LEVELS: dict[Consequence, str] = {
    "rejected": "error",
    "silent": "warning",
    "precision": "note",
    "unknown": "note",
}
"""How grave each consequence is, in SARIF's words."""

NAMED = 8
"""Nodes that a summary names."""


def totals_line(name: str, lint: Lint) -> str:
    """Sum up in one line."""
    told = ", ".join(f"{lint['totals'][each]} {each}" for each in SEVERITIES)
    target = f"CANN {lint['cann']}, {lint['soc_version']}, {lint['precision_mode']}"
    passed_over = ""
    if lint["unread"]:
        large = counted(lint["unread"], "large constant")
        passed_over = f"; {large} not looked at, --all-weights does"
    nodes = counted(lint["nodes"], "node")
    return printable(f"{name}: {told} ({nodes}; {target}{passed_over})")


def finding_lines(lint: Lint) -> Iterator[str]:
    """Tell every finding: what and where, what cures it, and where that was read."""
    for found in lint["findings"]:
        head = f"{LEVELS[found['consequence']]}: {found['consequence']}: {blamed(found)}"
        yield printable(f"{head}: {found['reason']} [{found['deviation']}]")
        yield printable(f"  {cure_words(found)}")
        yield printable(f"  confidence {found['confidence']}: {found['source']}")


def blamed(found: LintFinding) -> str:
    """Name the node and its operator, or the model."""
    if found["node"] is None:
        return "the model"
    return f"node {found['node']!r} ({found['op_type']})"


def cure_words(found: LintFinding) -> str:
    """Say which rule cures it, or why none does and what to do instead."""
    if found["rule"] is None:
        instead = f"; {found['advice']}" if found["advice"] else ""
        return f"no rule cures it{instead}"
    if found["skipped"] is None:
        return f"cure: rule {found['rule']}"
    return f"rule {found['rule']} is against it, but skips the node: {found['skipped']}"


def rejection_lines(lint: Lint) -> Iterator[str]:
    """Tell every reason why the target refuses the model, each with its cure."""
    for found in lint["findings"]:
        if found["consequence"] == "rejected":
            cure = f"; {cure_words(found)}"
            yield printable(f"{blamed(found)}: {found['reason']}{cure}")


def warning_texts(lint: Lint) -> Iterator[str]:
    """Tell what is no rejection: one text for each deviation and consequence."""
    groups: dict[tuple[str, str], list[LintFinding]] = {}
    for found in lint["findings"]:
        if found["consequence"] in ("silent", "precision"):
            key = (found["deviation"], found["consequence"])
            groups.setdefault(key, []).append(found)
    for (deviation, consequence), group in groups.items():
        first = group[0]
        nodes = [found["node"] for found in group if found["node"] is not None]
        shown = ", ".join(nodes[:NAMED]) + (", ..." if len(nodes) > NAMED else "")
        where = f"{counted(len(nodes), 'node')} ({shown})" if nodes else "the whole model"
        head = f"{deviation}, {consequence}, confidence {first['confidence']}, {where}"
        yield f"{head}: {first['reason']}; {cure_words(first)}"
