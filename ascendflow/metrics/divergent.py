"""Where the target leaves the golden: the first node beyond a limit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ascendflow.documents.metrics import OF_THE_EXPORT
from ascendflow.documents.numbers import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ascendflow.documents.metrics import NodeComparison, OutputComparison
    from ascendflow.documents.verdict import (
        Check,
        DivergentNode,
        DivergentOutput,
        LimitedMetric,
        Reason,
    )

COSINE_LIMIT = 0.99
DISTANCE_LIMIT = 0.05
"""Source: msprobe's per-operator limits. Its others (KL divergence, RMSE, mean relative
error) depend on scale, so they are shown and not judged."""

_LIMITS: dict[LimitedMetric, Callable[[float], bool]] = {
    "cosine_similarity": lambda value: not value >= COSINE_LIMIT,
    "relative_euclidean_distance": lambda value: not value <= DISTANCE_LIMIT,
}
"""Metric -> whether a value is beyond its limit; NaN is."""


def first_divergent_node(
    nodes: Sequence[NodeComparison], *, gate_passed: bool
) -> DivergentNode | None:
    """Find the first node beyond a limit, in the order given.

    If there is none and the gate failed, it is the node whose cosine similarity falls most
    against its worst input's; None if none falls.
    """
    for node in nodes:
        reason = why_divergent(node)
        if reason is not None:
            return _named(node, reason)
    return None if gate_passed else _largest_drop(nodes)


def divergent_outputs(
    outputs: Iterable[OutputComparison], checks: Iterable[Check]
) -> list[DivergentOutput]:
    """Find outputs beyond a node's limits in what no check judges; of each metric one.

    Args:
        outputs: as they were compared. What the export alone moved is left out.
        checks: what the gate judged. A limit that the manifest sets is the user's word.
    """
    judged = {(check["pair"], check["subject"], check["metric"]) for check in checks}
    found: dict[tuple[str, str], DivergentOutput] = {}
    for output in outputs:
        for metric, is_beyond in _LIMITS.items():
            aggregate = output["metrics"].get(metric)
            known = (output["pair"], output["name"], metric) in judged
            if aggregate is None or known or output["pair"] == OF_THE_EXPORT:
                continue
            if not output["golden_nonfinite"] and is_beyond(decode(aggregate["worst"])):
                told: DivergentOutput = {
                    "pair": output["pair"],
                    "name": output["name"],
                    "metric": metric,
                    "value": aggregate["worst"],
                    "sample": aggregate["worst_sample"],
                }
                found.setdefault((output["name"], metric), told)
    return list(found.values())


def why_divergent(node: NodeComparison) -> Reason | None:
    """Return what is wrong with a node's output, or None.

    A NaN or an infinity that the golden has too is none of the target's doing, although it
    leaves the metrics undefined; any other undefined metric counts as beyond its limit.
    Nor is what a rule moved.
    """
    if node["status"] != "compared" or node.get("moved_by_rules"):
        return None
    if node["problem"] is not None:
        return "incomparable"
    if node["introduced_nonfinite"]:
        return "nonfinite"
    return None if node["golden_nonfinite"] else _beyond_a_limit(node)


def _beyond_a_limit(node: NodeComparison) -> Reason | None:
    metrics = node["metrics"]
    if "cosine_similarity" not in metrics:
        return None  # integers and booleans
    beyond = (m for m, is_beyond in _LIMITS.items() if is_beyond(decode(metrics[m])))
    return next(beyond, None)


def with_inputs(
    nodes: Iterable[NodeComparison],
) -> Iterator[tuple[NodeComparison, float, float | None]]:
    """Yield each node, the cosine similarity of its worst input, and its own or None.

    The difference is what a node introduces; the rest it passes on.
    """
    reached: dict[str, float] = {}
    for node in nodes:
        # What is not in the list is an input or a weight of the model: the same in both.
        worst_input = min((reached.get(name, 1.0) for name in node["inputs"]), default=1.0)
        cosine = _cosine(node)
        # A tensor that was not compared passes on what reached it.
        reached[node["tensor"]] = worst_input if cosine is None else cosine
        yield node, worst_input, cosine


def _largest_drop(nodes: Sequence[NodeComparison]) -> DivergentNode | None:
    largest, found = 0.0, None
    for node, worst_input, cosine in with_inputs(nodes):
        if cosine is not None and worst_input - cosine > largest:
            largest, found = worst_input - cosine, node
    return None if found is None else _named(found, "largest_drop")


def _cosine(node: NodeComparison) -> float | None:
    if node.get("moved_by_rules"):
        return None
    value = decode(node["metrics"].get("cosine_similarity", "NaN"))
    return None if math.isnan(value) else value


def _named(node: NodeComparison, reason: Reason) -> DivergentNode:
    return {
        "name": node["node"] or node["tensor"],
        "tensor": node["tensor"],
        "op_type": node["op_type"],
        "target_op": node["target_op"],
        "reason": reason,
        "metrics": node["metrics"],
    }
