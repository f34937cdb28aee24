"""Thresholds + numbers -> verdict. Fails closed: NaN and what is missing never pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from ascendflow.documents.numbers import decode, encode
from ascendflow.errors import StageError
from ascendflow.metrics.thresholds import (
    FLOORED,
    Threshold,
    refuse_unknown_outputs,
    thresholds_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ascendflow.documents.evaluation import Evaluation
    from ascendflow.documents.metrics import (
        Aggregate,
        MetricsDocument,
        OutputComparison,
        Pair,
    )
    from ascendflow.documents.verdict import Check


PAIRS: tuple[Pair, ...] = ("onnx-target", "torch-onnx", "torch-target")
"""What is judged; without PyTorch, the first alone."""


def judge_outputs(
    gate: Mapping[str, Mapping[str, Mapping[str, float]]],
    measured: MetricsDocument,
    outputs: Sequence[str],
    *,
    has_torch: bool,
) -> list[Check]:
    """Judge every output, pairwise: PyTorch, the original export, the target.

    Args:
        gate: output name or "*" -> metric -> {"min" or "max": threshold}. What "*" says
            holds for an output that is named too, unless it names the same metric; where
            neither says anything that fits the output's kind, cosine_similarity >= 0.999,
            or mismatch_rate <= 0.
        measured: `metrics.json`.
        outputs: the model's real outputs. One that was not compared fails.
        has_torch: the PyTorch model is a golden too, for the export as for the target.

    Raises:
        StageError: `gate` names something that is no output, or a metric that an output
            of its kind does not have.
    """
    refuse_unknown_outputs(gate, outputs)
    known = {(found["pair"], found["name"]): found for found in measured["outputs"]}
    checks = []
    for pair in PAIRS if has_torch else PAIRS[:1]:
        for name in outputs:
            found = known.get((pair, name))
            checks += _judge_output(gate, pair, name, found)
    return checks


def judge_metric(gate: Mapping[str, Any], evaluation: Evaluation) -> Check:
    """Judge the fall of the end metric, relative to the golden's.

    Args:
        gate: `max_relative_drop` and `against` ("onnx" or "torch").
        evaluation: `evaluation.json`. Where lower is better, the drop is a rise.

    Raises:
        StageError: there is no end metric, or none of the model to compare with.
    """
    against: Literal["onnx", "torch"] = gate["against"]
    golden, target = evaluation[against], evaluation["target"]
    if evaluation["metric"] is None or golden is None or target is None:
        raise StageError(
            f"gate: metric.against is {against!r}, but there is no end metric of it",
            hint="name a metric under 'evaluate', and a PyTorch source for against: torch",
        )
    problem = None
    if golden == 0 or not math.isfinite(golden):
        problem = f"the {against} value is {golden}: there is no drop relative to it"
    elif not math.isfinite(target):
        problem = f"the target value is {target}"
    drop = math.nan if problem else (golden - target) / abs(golden)
    if evaluation["direction"] == "lower":
        drop = -drop
    threshold = Threshold("relative_drop", "max", gate["max_relative_drop"])
    pair: Pair = "onnx-target" if against == "onnx" else "torch-target"
    return _check(pair, evaluation["metric"], threshold, drop, problem=problem)


def _judge_output(
    gate: Mapping[str, Mapping[str, Mapping[str, float]]],
    pair: Pair,
    name: str,
    found: OutputComparison | None,
) -> list[Check]:
    thresholds = thresholds_of(gate, name, found)
    if found is None:
        problem = "was not compared"
        return [_check(pair, name, t, math.nan, problem=problem) for t in thresholds]
    return [_judge(found, threshold) for threshold in thresholds]


def _judge(found: OutputComparison, threshold: Threshold) -> Check:
    aggregate: Aggregate | None
    if threshold.metric == FLOORED:
        aggregate = found["floored_max_relative_error"]
    else:
        aggregate = found["metrics"].get(threshold.metric)
    sample = aggregate["worst_sample"] if aggregate else None
    value = decode(aggregate["worst"]) if aggregate else math.nan
    problem = None if aggregate else "was not measured"
    if found["problems"]:
        first = found["problems"][0]
        sample, problem = first["sample"], f"sample {first['sample']!r}: {first['problem']}"
    if problem is None and math.isnan(value):
        problem = _why_nan(found)
    check = _check(
        found["pair"], found["name"], threshold, value, sample=sample, problem=problem
    )
    if aggregate is not None and "behaviour" in aggregate:
        check["behaviour"] = aggregate["behaviour"]
    return check


def _why_nan(found: OutputComparison) -> str:
    """Say what left a metric undefined: no number is no pass."""
    if count := found["golden_nonfinite"]:
        why = f"golden and target have {count} NaN or infinite elements in the same places"
    else:
        why = "one is zero throughout, the other not"
    return f"is NaN; NaN never passes: {why}"


def _check(  # noqa: PLR0913 - one argument per field
    pair: Pair,
    subject: str,
    threshold: Threshold,
    value: float,
    *,
    sample: str | None = None,
    problem: str | None = None,
) -> Check:
    if problem is None and math.isnan(value):
        problem = "is NaN; NaN never passes"
    usable = problem is None and math.isfinite(value)
    return {
        "name": f"{pair}/{subject}/{threshold.metric}",
        "pair": pair,
        "subject": subject,
        "sample": sample,
        "metric": threshold.metric,
        "value": encode(value),
        "threshold": {threshold.bound: threshold.limit},
        "passed": usable and threshold.allows(value),
        "tightest": value if usable else None,
        "problem": problem,
    }
