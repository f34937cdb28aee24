"""Documents of an emulation and of a device -> where the two disagree; judges nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ascendflow import __version__
from ascendflow.documents.numbers import decode, encode
from ascendflow.metrics.divergent import why_divergent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ascendflow.documents.contrast import (
        Contrast,
        NodeContrast,
        OutputContrast,
        Side,
        Standing,
    )
    from ascendflow.documents.conversion import Conversion
    from ascendflow.documents.lint import Lint
    from ascendflow.documents.metrics import MetricsDocument, NodeComparison
    from ascendflow.documents.verdict import Verdict

    Documents = Mapping[str, Any]
    Facts = Mapping[str, tuple[dict[str, str], dict[str, list[int | str]]]]

COMPARED_BY = ("mismatch_rate", "relative_euclidean_distance")
"""The metric of a disagreement: the first of these that both sides have."""

NOT_DUMPED = "no tensor inside the model was had from {}: outputs only are compared"


class Known(NamedTuple):
    """What no document of either side says.

    Attributes:
        model: its name.
        samples: how many there were.
        outputs: how far the outputs of the two are apart.
        facts: tensor -> attributes of its node, and shapes of what it reads and makes.
        not_emulated: keys that the emulator leaves out.
    """

    model: str
    samples: int
    outputs: list[OutputContrast]
    facts: Facts
    not_emulated: list[str]


def contrast(predicted: Documents, measured: Documents, known: Known) -> Contrast:
    """Join the documents of both sides, each role -> document."""
    rows = list(_nodes(predicted, measured, known.facts))
    _add_shares(rows, predicted["metrics.json"])
    rows.sort(key=lambda row: (-_number(row["added"]), -_number(row["disagreement"])))
    return {
        "schema_version": 1,
        "ascendflow": __version__,
        "model": known.model,
        "predicted": _side(predicted["verdict.json"], predicted["conversion.json"]),
        "measured": _side(measured["verdict.json"], measured["conversion.json"]),
        "samples": known.samples,
        "node_samples": len(measured["metrics.json"]["node_samples"]),
        "outputs": known.outputs,
        "nodes": rows,
        "why_no_nodes": None if rows else _why_none(predicted, measured),
        "alone": _alone(predicted["metrics.json"], measured["metrics.json"]),
        "whole": sorted({f for f, node in _findings(predicted["lint.json"]) if not node}),
        "not_emulated": known.not_emulated,
    }


def _side(verdict: Verdict, conversion: Conversion) -> Side:
    versions = conversion["toolchain"]["versions"] if "toolchain" in conversion else {}
    return {
        "backend": conversion["backend"],
        "is_real_device": conversion["is_real_device"],
        "cann": conversion["cann"],
        "soc_version": conversion["soc_version"],
        "precision_mode": conversion["precision_mode"],
        "passed": verdict["passed"],
        "checks": len(verdict["checks"]),
        "failed": [check["name"] for check in verdict["checks"] if not check["passed"]],
        "versions": dict(sorted(versions.items())),
    }


def _findings(lint: Lint) -> Iterator[tuple[str, str]]:
    for finding in lint["findings"]:
        yield finding["deviation"], finding["node"] or ""


def _applied(conversion: Conversion) -> Iterator[tuple[str, str]]:
    for applied in conversion["applied"]:
        yield from ((applied["deviation"], node) for node in applied["nodes"])


def _by_node(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return node -> its deviations, each once."""
    found: dict[str, list[str]] = {}
    for deviation, node in sorted(set(pairs)):
        found.setdefault(node, []).append(deviation)
    return found


def _compared(measured: MetricsDocument) -> dict[str, NodeComparison]:
    return {n["tensor"]: n for n in measured["nodes"] if n["status"] == "compared"}


def _nodes(
    predicted: Documents, measured: Documents, facts: Facts
) -> Iterator[NodeContrast]:
    of_device = _compared(measured["metrics.json"])
    findings = _by_node(_findings(predicted["lint.json"]))
    emulated = _by_node(_applied(predicted["conversion.json"]))
    for tensor, ours in _compared(predicted["metrics.json"]).items():
        if (theirs := of_device.get(tensor)) is None:
            continue
        attributes, shapes = facts.get(tensor, ({}, {}))
        metric, apart = _disagreement(ours, theirs)
        yield {
            "tensor": tensor,
            "node": ours["node"],
            "op_type": ours["op_type"],
            "predicted_op": ours["target_op"],
            "measured_op": theirs["target_op"],
            "attributes": attributes,
            "shapes": shapes,
            "predicted": ours["metrics"],
            "measured": theirs["metrics"],
            "metric": metric,
            "disagreement": None if apart is None else encode(apart),
            "added": None,
            "standing": _standing(ours, theirs),
            "predicted_nonfinite": ours["introduced_nonfinite"],
            "measured_nonfinite": theirs["introduced_nonfinite"],
            "problem": theirs["problem"] or ours["problem"],
            "findings": findings.get(ours["node"], []),
            "emulated": emulated.get(ours["node"], []),
        }


def _standing(ours: NodeComparison, theirs: NodeComparison) -> Standing:
    says = (why_divergent(ours) is not None, why_divergent(theirs) is not None)
    words: dict[tuple[bool, bool], Standing] = {
        (True, True): "both",
        (True, False): "predicted_only",
        (False, True): "measured_only",
        (False, False): "neither",
    }
    return words[says]


def _disagreement(
    ours: NodeComparison, theirs: NodeComparison
) -> tuple[str | None, float | None]:
    """Return by which metric, and how far, prediction and measurement are apart.

    Fails closed: what cannot be told apart from a disagreement is one.
    """
    metrics = (ours["metrics"], theirs["metrics"])
    metric = next((m for m in COMPARED_BY if all(m in each for each in metrics)), None)
    if (ours["problem"] is None) != (theirs["problem"] is None):
        return metric, math.inf
    if bool(ours["introduced_nonfinite"]) != bool(theirs["introduced_nonfinite"]):
        return metric, math.inf
    if metric is None:
        return None, None
    one, other = (decode(each[metric]) for each in metrics)
    if not math.isfinite(one) or not math.isfinite(other):
        same = one == other or (math.isnan(one) and math.isnan(other))
        return metric, 0.0 if same else math.inf
    return metric, abs(one - other)


def _add_shares(rows: Iterable[NodeContrast], predicted: MetricsDocument) -> None:
    """Fill in `added`: the disagreement beyond the largest among the node's inputs."""
    apart = {row["tensor"]: row["disagreement"] for row in rows}
    inputs = {node["tensor"]: node["inputs"] for node in predicted["nodes"]}
    for row in rows:
        if row["disagreement"] is None:
            continue
        before = [_number(apart[name]) for name in inputs[row["tensor"]] if name in apart]
        own, most = decode(row["disagreement"]), max(before, default=0.0)
        # Of two infinite ones nobody knows which is the larger; the first is the news.
        row["added"] = encode(0.0 if own == most else own - most)


def _number(value: float | str | None) -> float:
    return 0.0 if value is None else float(value)


def _why_none(predicted: Documents, measured: Documents) -> str:
    for side in (measured, predicted):
        if not _compared(side["metrics.json"]):
            what = "device" if side["conversion.json"]["is_real_device"] else "emulator"
            return NOT_DUMPED.format(f"the {what}")
    return "the two have no tensor of one name inside the model: outputs only are compared"


def _alone(predicted: MetricsDocument, measured: MetricsDocument) -> dict[Any, list[str]]:
    ours, theirs = _compared(predicted), _compared(measured)
    if not ours or not theirs:
        return {"predicted": [], "measured": []}
    return {
        "predicted": [name for name in ours if name not in theirs],
        "measured": [name for name in theirs if name not in ours],
    }
