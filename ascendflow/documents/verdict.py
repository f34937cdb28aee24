"""What the gate decided, and on what."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ascendflow.documents.conversion import AppliedDeviation
from ascendflow.documents.metrics import Behaviours, Pair
from ascendflow.documents.numbers import Number


class Check(TypedDict):
    """One threshold, judged for one pair of models; `torch-onnx` is without the target.

    `name` is `<pair>/<subject>/<metric>`; `subject` an output, or the user's end metric,
    whose `metric` is `relative_drop` (positive is worse). `sample` is the worst one.
    `threshold` is one `min` or `max`, as the manifest spells it; equal passes. `tightest`
    is the tightest that would pass, null where none would. `problem` says why a check fails
    whatever its value: missing, another shape or dtype, NaN. `behaviour` is there where the
    target may do one of two things: the one under which the value is the worse.
    """

    name: str
    pair: Pair
    subject: str
    sample: str | None
    metric: str
    value: Number
    threshold: dict[Literal["min", "max"], float]
    passed: bool
    tightest: float | None
    problem: str | None
    behaviour: NotRequired[str]


Reason = Literal[
    "nonfinite",
    "cosine_similarity",
    "relative_euclidean_distance",
    "incomparable",
    "largest_drop",
]


class DivergentNode(TypedDict):
    """Where the target leaves the golden.

    `name` is the node's, `tensor` its output's. `reason` is what gave it away: the target
    has NaN or infinities of its own, a metric is beyond its limit (or undefined), the
    shapes or dtypes differ; or, where no node is beyond a limit and the gate failed, its
    cosine similarity falls most against its worst input (`largest_drop`).
    """

    name: str
    tensor: str
    op_type: str
    target_op: str | None
    reason: Reason
    metrics: dict[str, Number]


LimitedMetric = Literal["cosine_similarity", "relative_euclidean_distance"]
"""Metrics with a limit for what diverges."""


class DivergentOutput(TypedDict):
    """An output that is beyond a limit of nodes, in a metric that the gate does not judge.

    It changes nothing about the verdict. `sample` is the worst one.
    """

    pair: Pair
    name: str
    metric: LimitedMetric
    value: Number
    sample: str


class Emulation(TypedDict):
    """How far the emulated target is known; see `Conversion` and `Behaviours`."""

    modelled_nodes: int
    assumed: dict[str, int]
    applied: list[AppliedDeviation]
    behaviours: NotRequired[Behaviours]


class Verdict(TypedDict):
    """`verdict.json`. `emulation` is null for a real device.

    `judged` names each document that was judged by its digest, as their stages' records
    do: role -> "sha256:...".
    """

    schema_version: Literal[1]
    model: str
    backend: str
    is_real_device: bool
    emulation: Emulation | None
    cann: str
    soc_version: str
    precision_mode: str
    passed: bool
    checks: list[Check]
    first_divergent_node: DivergentNode | None
    divergent_outputs: list[DivergentOutput]
    judged: dict[str, str]
