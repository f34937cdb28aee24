"""How a gate judged, where nothing but its verdict is told; standard library only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.report.lines import MOST_CHECKS, check_words, node_words, verdict_line
from ascendflow.report.words import REASONS, counted, near_one
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LIMITS = {
    "cosine_similarity": ("min", 0.99),
    "relative_euclidean_distance": ("max", 0.05),
}
"""metrics/divergent.py's, as a gate spells them."""


def passing_lines(verdict: Mapping[str, Any]) -> Iterator[str]:
    """Yield that a model passed, and what diverges all the same."""
    yield verdict_line(verdict)
    found = verdict["divergent_outputs"]
    for output in found:
        yield _output_line(output, verdict["model"])
    if not found and (node := verdict["first_divergent_node"]) is not None:
        yield printable(
            f"warning: {verdict['model']} passed, although {node_words(node)}: "
            f"{REASONS[node['reason']]}; no output does so, and the gate judges outputs"
            + _way_to_hold(verdict)
        )


def failed_lines(verdict: Mapping[str, Any]) -> Iterator[str]:
    """Yield what failed, of a run that was asked for no report."""
    yield verdict_line(verdict)
    failed = [check for check in verdict["checks"] if not check["passed"]]
    yield from (f"gate: {check_words(check)}" for check in failed[:MOST_CHECKS])
    if (more := len(failed) - MOST_CHECKS) > 0:
        yield f"gate: {counted(more, 'more check')} failed"


def _output_line(output: Mapping[str, Any], model: str) -> str:
    metric = output["metric"]
    bound, limit = LIMITS[metric]
    where = f"{output['pair']}, worst sample {output['sample']!r}"
    more = "below" if bound == "min" else "above"
    return printable(
        f"warning: {model} passed, although output {output['name']!r} diverges: {metric} "
        f"is {near_one(output['value'])}, {more} {limit} ({where}); to have that fail, "
        f'write {metric}: {{{bound}: {limit}}} under gate.outputs."*" in '
        f"pipelines/{model}/manifest.yaml"
    )


def _way_to_hold(verdict: Mapping[str, Any]) -> str:
    """Say what holds outputs to the limits of nodes, where nothing does."""
    metric = "relative_euclidean_distance"
    if any(check["metric"] == metric for check in verdict["checks"]):
        return ""
    bound, limit = LIMITS[metric]
    return f" (`gate: {{outputs: {{'*': {{{metric}: {{{bound}: {limit}}}}}}}}}` does so)"
