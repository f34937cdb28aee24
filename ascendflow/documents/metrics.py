"""What compare measured: numbers, for gate to judge."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ascendflow.documents.numbers import Number

Pair = Literal["torch-onnx", "onnx-target", "torch-target"]
"""Golden and target of a comparison: PyTorch, the original ONNX, the compiled model."""

OF_THE_EXPORT: Pair = "torch-onnx"
"""The pair that the target has no part in."""

Kind = Literal["float", "discrete"]
"""How a tensor is compared: by distance, or (integers and booleans) for equality."""


class Aggregate(TypedDict):
    """One metric over all samples that could be measured.

    `worst` is NaN if any sample is; `mean` is over the samples. `behaviour` is there where
    the target may do one of two things: the one under which the number is the worse.
    """

    worst: Number
    mean: Number
    worst_sample: str
    behaviour: NotRequired[str]


class Problem(TypedDict):
    """Why an output of one sample cannot pass, whatever its metrics say."""

    sample: str
    problem: str


class OutputComparison(TypedDict):
    """One output, in one pair, over all samples.

    `smallest_size` is the number of elements of the smallest golden. Samples whose output
    is missing, or of another dtype or shape, have a problem and no part in `metrics`.
    `range_relative_error` is over `golden_range`: max - min of the golden over all samples;
    if 0, max |x|; if 0, one. `floored_max_relative_error` is the max relative error with
    its denominator floored at 1e-6 of that; it is there only where an output has fewer than
    8 elements. `statistics` are means over the samples.
    """

    pair: Pair
    name: str
    kind: Kind
    smallest_size: int
    golden_range: Number
    metrics: dict[str, Aggregate]
    floored_max_relative_error: Aggregate | None
    statistics: dict[str, Number]
    golden_nonfinite: int
    target_nonfinite: int
    problems: list[Problem]


class Underflow(TypedDict):
    """What float16 does to the smallest of a tensor's `elements`.

    `tiny` golden elements are not 0 and below 6.1e-05, where float16 has fewer digits the
    smaller they are; `zeroed` of them are 0 on the target. `explained` is the squared error
    that rounding them to float16 makes over the squared error that there is: near 1, that
    rounding is what the error comes from. NaN where there is no error.
    """

    tiny: int
    zeroed: int
    elements: int
    explained: Number


class NodeComparison(TypedDict):
    """One tensor of the simplified model, by name, against the target's.

    A tensor of one side only has no metrics: the target folded or fused it away
    (`golden_only`), or a rule or the compiler inserted it (`target_only`; `node` and
    `op_type` are then empty). Over several samples each metric is the worst, counts are the
    largest, and statistics those of the sample with the worst cosine similarity (or
    mismatch rate), but for `golden_largest` and `target_largest`: the largest finite
    magnitude in any.
    `introduced_nonfinite` counts NaN and infinities of the target that the golden does not
    have in that place. `underflow`, of the same sample as the statistics, is there only
    where the golden has such elements. `problem` says why a pair could not be measured.

    `diverges` is for showing: beyond the limits that locate the first divergent node. A
    tensor that is beyond them only since a rule moved it (the target agrees with the
    rewritten model) does not diverge, and is `moved_by_rules`; if the target is beyond them
    there too, `statistics` and `underflow` are those against the rewritten model.
    """

    tensor: str
    node: str
    op_type: str
    target_op: str | None
    inputs: list[str]
    status: Literal["compared", "golden_only", "target_only"]
    metrics: dict[str, Number]
    statistics: dict[str, Number]
    golden_nonfinite: int
    target_nonfinite: int
    introduced_nonfinite: int
    problem: str | None
    diverges: bool
    underflow: NotRequired[Underflow]
    moved_by_rules: NotRequired[bool]


class FlippedPlaces(TypedDict):
    """How many of a node's indices (`places`) differ, and how near the choice was.

    Of the `differing` ones: where the golden's two values are equal (`tied`), and where
    they are apart, but by no more than twice the largest error of the target's values along
    the axis (`near`). `largest_gap` and `largest_error` are the largest of either where
    indices differ, NaN where an index is none.
    """

    places: int
    differing: int
    tied: int
    near: int
    largest_gap: Number
    largest_error: Number


class Flips(TypedDict):
    """The choice (ArgMax, ArgMin, TopK) behind integers of an output that differ.

    On the sample in which most of them do. `places` is null where it cannot be known, for
    the reason `problem`.
    """

    output: str
    sample: str
    node: str
    op_type: str
    values: str
    places: FlippedPlaces | None
    problem: str | None


class Behaviours(TypedDict):
    """The two things of which the target may do one, and no source says which.

    Each number of an output is of the one that it is worse by; `nodes` is the one that all
    numbers of nodes are of, since its outputs are farther from the golden.
    """

    names: list[str]
    nodes: str


class MetricsDocument(TypedDict):
    """`metrics.json`.

    Outputs are over all samples; nodes, in the order of the simplified model, over the
    samples named in `node_samples`. `behaviours` is there only where there are two, `flips`
    only where integers of an output differ and a choice is behind them.
    """

    schema_version: Literal[1]
    outputs: list[OutputComparison]
    nodes: list[NodeComparison]
    node_samples: list[str]
    behaviours: NotRequired[Behaviours]
    flips: NotRequired[list[Flips]]
