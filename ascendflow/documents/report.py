"""report.json: all that report.html and the console show of one run."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from ascendflow.documents import verdict
from ascendflow.documents.conversion import Confidence
from ascendflow.documents.metrics import Behaviours, Flips, Kind, Pair, Underflow
from ascendflow.documents.numbers import Number
from ascendflow.documents.rewrite_log import Effect
from ascendflow.documents.verdict import Check
from ascendflow.documents.warnings import StageWarning


class Target(TypedDict):
    """What the numbers were got on; `words` says how to speak of them."""

    backend: str
    is_real_device: bool
    cann: str
    soc_version: str
    precision_mode: str
    words: str


class EndMetric(TypedDict):
    """The end metric of PyTorch, ONNX and target on the same samples.

    `drop` is the target's fall from ONNX over ONNX's value (where lower is better, its
    rise), null where ONNX's is 0.
    """

    name: str
    direction: Literal["higher", "lower"]
    torch: float | None
    onnx: float
    target: float
    drop: float | None


class Cure(TypedDict):
    """A rule against a deviation, and what this run already did with it.

    `state` at the divergent node: the manifest does not name the rule; it names it, but for
    other nodes; the rule skipped the node, for `reason`; it was applied, to no avail.
    """

    rule: str
    state: Literal["not_named", "other_nodes", "skipped", "applied"]
    reason: str | None


class Cause(TypedDict):
    """A known deviation that changes a node's values; `nodes` counts all it changes.

    With `behaviours` it is only a possible one: no source says which of the two CANN has.
    """

    deviation: str
    nodes: int
    confidence: Confidence
    source: str
    cure: Cure | None
    behaviours: NotRequired[list[str]]


class Overflow(TypedDict):
    """A node of which ONNX has finite values beyond float16, and the target has none.

    `largest` is their magnitude in ONNX. `keepable` says whether keep_dtype would run it in
    other types; null where that is not known.
    """

    node: str
    op_type: str
    largest: float
    keepable: bool | None


class DivergentNode(verdict.DivergentNode):
    """The node that the verdict names, with what is known of it.

    `module` and `source` are where it comes from in the user's PyTorch code, "" where
    nothing is known. `keepable` is as in `Overflow`. `overflow` is null where neither its
    values nor those that it reads left float16; `underflow` where it has no element that
    float16 would round coarsely.
    """

    keepable: bool | None
    overflow: Overflow | None
    underflow: Underflow | None
    module: str
    source: str
    causes: list[Cause]


class OutputMetric(TypedDict):
    """One metric of one output, over all samples."""

    metric: str
    worst: Number
    mean: Number
    worst_sample: str


class OutputRow(TypedDict):
    """One output in one pair: golden and target of it.

    `smallest_size` is how many elements the output has on the sample where it has fewest.
    """

    pair: Pair
    name: str
    kind: Kind
    smallest_size: int
    metrics: list[OutputMetric]
    problems: list[str]


class NodeRow(TypedDict):
    """One node of the simplified model against the target.

    `worst_input` is the cosine similarity of its worst input (1 where nothing is known of
    any), `drop` how much less its own is: the error that the node introduces, rather than
    passes on. Null where the node has no cosine similarity, and where a rule moved the
    tensor (`moved_by_rules`), which the target only follows.
    """

    tensor: str
    node: str
    op_type: str
    target_op: str | None
    status: Literal["compared", "golden_only", "target_only"]
    diverges: bool
    moved_by_rules: bool
    metrics: dict[str, Number]
    worst_input: float
    drop: float | None
    introduced_nonfinite: int
    problem: str | None
    module: str
    source: str


class Golden(TypedDict):
    """What computed the trusted outputs of the exported model."""

    runtime: Literal["onnxruntime", "onnx.reference"]
    graph_optimization: Literal["off"]


class RuleRow(TypedDict):
    """What one rule did; `held` is whether the samples bear out its promise.

    `skipped` is reason -> nodes. `held` is null where the rule applied to nothing. `file`
    is the user's, where the rule is theirs. `deviations` is what `auto` chose the rule
    for, with the nodes; empty where the manifest names the rule. `arguments` is what the
    manifest gave it, where it takes some.
    """

    rule: str
    version: int
    effect: Effect
    held: bool | None
    applied: list[str]
    skipped: dict[str, list[str]]
    file: str | None
    deviations: dict[str, list[str]]
    arguments: NotRequired[dict[str, Any]]


class Deviation(TypedDict):
    """One deviation that was emulated; `nodes` is null where it holds for all.

    `behaviours` as in `Cause`.
    """

    deviation: str
    nodes: int | None
    confidence: Confidence
    source: str
    rule: str | None
    behaviours: NotRequired[list[str]]


class Emulation(TypedDict):
    """How much of the graph has a model, and how much is taken to equal ONNX.

    `behaviours` is there only where CANN may do one of two things.
    """

    modelled_nodes: int
    assumed: dict[str, int]
    overflow: Literal["saturate", "inf"] | None
    applied: list[Deviation]
    behaviours: NotRequired[Behaviours]


class MetricText(TypedDict):
    """What a metric's number means; g is the golden, t the target, n the element count."""

    direction: Literal["higher", "lower"]
    formula: str


class Report(TypedDict):
    """`report.json`: one run of one model.

    `warnings` are those of the stages before, in their order.
    Nodes are in the order of the simplified model, compared on the samples named in
    `node_samples`. `rules_moved` is the largest error of any output that all rules together
    made, in onnxruntime: 0 is a golden unchanged. `flips` are the choices behind integers
    of outputs that differ.
    """

    schema_version: Literal[1]
    model: str
    passed: bool
    target: Target
    golden: Golden
    warnings: list[StageWarning]
    checks: list[Check]
    metric: EndMetric | None
    divergent_node: DivergentNode | None
    flips: list[Flips]
    outputs: list[OutputRow]
    nodes: list[NodeRow]
    node_samples: list[str]
    rules: list[RuleRow]
    rules_moved: float
    emulation: Emulation | None
    metrics: dict[str, MetricText]
