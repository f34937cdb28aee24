"""Where prediction and device disagree, in a few lines of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.report.words import counted, near_one, shown
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_NODES = 10
"""Nodes that the console names."""

SMALLEST = 1e-3
"""A smaller disagreement than twice float16's rounding is none to look at."""

SIDES = ("predicted", "measured")

STANDINGS = {
    "both": "predicted and measured",
    "predicted_only": "predicted, not measured",
    "measured_only": "measured, not predicted",
    "neither": "neither beyond a limit",
}
"""What the two say of a node being beyond a limit."""


def contrast_lines(contrast: Mapping[str, Any]) -> Iterator[str]:
    """Yield both verdicts, how far the outputs are apart, and the nodes that part them."""
    yield verdicts_words(contrast)
    for output in contrast["outputs"]:
        yield output_words(output)
    if contrast["why_no_nodes"] is not None:
        yield contrast["why_no_nodes"]
        return
    yield nodes_words(contrast)
    for row in _notable(contrast["nodes"])[:MOST_NODES]:
        yield f"  {node_words(row)}"


def verdicts_words(contrast: Mapping[str, Any]) -> str:
    """Say what either gate says, and whether the prediction of it held."""
    ours, theirs = contrast["predicted"], contrast["measured"]
    held = "held" if ours["passed"] == theirs["passed"] else "did NOT hold"
    return (
        f"the emulated gate {_gate(ours)}, the device's {_gate(theirs)}: "
        f"the prediction {held}"
    )


def _gate(side: Mapping[str, Any]) -> str:
    return "passed" if side["passed"] else "FAILED"


def side_words(side: Mapping[str, Any]) -> str:
    """Name a backend and its target; versions where a toolkit says them."""
    told = [f"CANN {side['cann']}", side["soc_version"], side["precision_mode"]]
    told += [f"{name} {version}" for name, version in side["versions"].items()]
    return printable(", ".join(told))


def output_words(output: Mapping[str, Any]) -> str:
    """Say how far the device's output is from the emulated one, on the worst sample."""
    what = f"output {output['name']}: device against emulator"
    if output["behaviour"]:
        what += f" if {output['behaviour']}"
    if output["problem"] is not None:
        return printable(f"{what}: {output['problem']}")
    metrics = output["metrics"]
    names = ("cosine_similarity", "relative_euclidean_distance", "mismatch_rate")
    told = ", ".join(
        f"{name} {near_one(metrics[name])}" for name in names if name in metrics
    )
    return printable(f"{what}: {told}")


def nodes_words(contrast: Mapping[str, Any]) -> str:
    """Count what was compared inside, and what the prediction missed or made up."""
    rows = contrast["nodes"]
    count = {key: sum(row["standing"] == key for row in rows) for key in STANDINGS}
    ends = "" if _notable(rows) else "; none adds a disagreement worth a look"
    return (
        f"{counted(len(rows), 'tensor')} inside: beyond a limit both {count['both']}, "
        f"predicted only {count['predicted_only']}, measured only "
        f"{count['measured_only']}{ends}"
    )


def _notable(rows: list[Any]) -> list[Any]:
    """Return the rows that add a disagreement, or have none that could be told."""
    return [
        row
        for row in rows
        if row["added"] is None or float(row["added"]) > SMALLEST or row["problem"]
    ]


def node_words(row: Mapping[str, Any]) -> str:
    """Name a node, both errors, and what is known of it."""
    metric = row["metric"]
    nonfinite = [row["predicted_nonfinite"], row["measured_nonfinite"]]
    if row["problem"] is not None or metric is None:
        apart = row["problem"] or "no metric in common"
    elif any(nonfinite):
        ours, theirs = nonfinite
        apart = f"{ours} NaN or infinities predicted, {theirs} measured"
    else:
        ours, theirs = (shown(row[side].get(metric), 3) for side in SIDES)
        apart = f"{metric} {ours} predicted, {theirs} measured"
    known = ", ".join(dict.fromkeys((*row["emulated"], *row["findings"])))
    because = f"; {known}" if known else "; nothing known of it"
    return printable(f"{row['node']} ({row['op_type']}): {apart}{because}")
