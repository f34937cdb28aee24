"""Report -> one HTML page that needs nothing beside it: no script, no font, no network."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow.report import chart, lines, measured, words, written
from ascendflow.terminal import printable
from ascendflow.vocabulary import LOSSY_RULES

if TYPE_CHECKING:
    from jinja2 import Environment

    from ascendflow.documents.report import NodeRow, Report

TEMPLATES = Path(__file__).parent / "templates"

MOST_DROPS = 10
SMALLEST_DROP = 1e-6
"""A smaller loss of cosine similarity is fp32 noise."""

OPEN_NODES = 60
"""Longer lists of nodes are closed at first, so that the browser need not lay them out."""


def render(report: Report) -> str:
    """Render the page; names are escaped, and equal reports give equal bytes."""
    made = environment()
    made.filters.update(_filters(report))
    page = made.get_template("report.html.j2").render(
        report=report,
        bars=chart.bars(report["nodes"]),
        chart=chart,
        drops=_largest_drops(report["nodes"]),
        is_open=len(report["nodes"]) <= OPEN_NODES,
        floored=words.FLOORED,
        floored_words=words.FLOORED_WORDS,
    )
    return page + "\n"


def environment() -> Environment:
    """Make what reads the templates: names are escaped, and a missing one is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _largest_drops(nodes: list[NodeRow]) -> list[NodeRow]:
    """Return the nodes that lose most against their worst input, the worst first."""
    losing = [node for node in nodes if (node["drop"] or 0.0) > SMALLEST_DROP]
    return sorted(losing, key=lambda node: -(node["drop"] or 0.0))[:MOST_DROPS]


def _filters(report: Report) -> dict[str, Any]:
    return {
        "name": printable,
        "counted": words.counted,
        "shown": words.shown,
        "near_one": words.near_one,
        "value": words.value_words,
        "threshold": words.threshold_words,
        "tightest": words.tightest_words,
        "check_words": lines.check_words,
        "manifest_line": words.manifest_line,
        "is_lossy": LOSSY_RULES.__contains__,
        "rules_written": written.rules_written,
        "golden_words": lines.golden_words,
        "rewritten_words": lines.rewritten_words,
        "confidence_words": words.confidence_words,
        "unknown_lines": lines.unknown_lines,
        "measured_lines": measured.measured_lines,
        "auto_lines": lines.auto_lines,
        "cure_words": partial(lines.cure_words, report=report),
        "reason_words": words.REASONS.__getitem__,
    }
