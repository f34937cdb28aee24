"""What a manifest may say: one frozen model per block, unknown keys forbidden.

Each model checks its own keys; what spans several keys is in `consistency`, so that
every problem of a file can be told at once. Descriptions end up in the JSON Schema,
where editors show them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ascendflow import vocabulary
from ascendflow.manifest import opsets
from ascendflow.manifest.block import STRICT, FromList
from ascendflow.manifest.convert import Convert
from ascendflow.manifest.fields import (
    BETWEEN_BLOCKS,
    IDENTIFIER,
    KNOWN_RULE_UNLESS_FILE,
    Identifier,
    InputName,
    ModelName,
    Module,
    NotEmpty,
    Number,
    PositiveNumber,
    Ratio,
    RelativePath,
    RuleOrName,
    RulesOrAuto,
    Size,
    Text,
    Thresholds,
    exactly_one,
    one_of,
)
from ascendflow.manifest.infer import Infer


class Block(BaseModel):
    """A mapping in the manifest."""

    model_config = STRICT


Arguments = Annotated[
    dict[str, Any], Field(json_schema_extra={"propertyNames": {"pattern": IDENTIFIER}})
]


class Weights(Block):
    """A checkpoint, loaded with `weights_only=True` and strictly."""

    file: RelativePath
    """.pt, .pth or .safetensors, relative to this folder, or `root:path`."""
    key: Text | None = None
    """Where the state dict lies in the checkpoint, if it is not the whole of it."""
    strip_prefix: Text | None = None
    """Taken off the names of the state dict, e.g. `module.`."""


class TorchSource(Block):
    """A PyTorch model: `factory(**arguments) -> torch.nn.Module`."""

    module: Module
    """Python file, relative to this folder."""
    factory: Identifier
    """Function or class of the module."""
    arguments: Arguments = {}
    """Keyword arguments of the factory."""
    weights: Weights | None = None
    """A checkpoint to load; absent: as the factory leaves the model."""


class Source(Block):
    """Where the model comes from; exactly one of the two."""

    model_config = ConfigDict(
        json_schema_extra=exactly_one(("torch",), ("onnx",), without={})
    )

    torch: TorchSource | None = None
    onnx: RelativePath | None = None
    """An ONNX file; its external data lies beside it."""


class Input(Block):
    """One input, with the shape the target is built for."""

    name: InputName
    """As in the model; free of the separators of `atc --input_shape`."""
    dtype: Annotated[str, one_of(vocabulary.DTYPES)]
    """numpy's name of it."""
    shape: Annotated[tuple[Size, ...], FromList]
    """Fixed, e.g. [1, 3, 192, 256]; [] is a scalar, a size of 0 an empty tensor."""


Range = Annotated[tuple[Number, Number], FromList]


class Random(Block):
    """Inputs drawn at random: enough to compare with, too little to judge a model by."""

    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """Same seed, same samples."""
    count: Annotated[int, Field(ge=1)] = 4
    """How many samples."""
    ranges: dict[str, Range] = {}
    """Per input: [low, high), high not drawn. Absent: [0, 1), integers 0 and 1."""


class Samples(Block):
    """What the model is run on; exactly one of a factory, files, random."""

    model_config = ConfigDict(
        json_schema_extra=exactly_one(
            ("module", "factory"),
            ("files",),
            ("random",),
            without={"files": "arguments", "random": "arguments"},
        )
    )

    module: Module | None = None
    """Python file that holds the factory."""
    factory: Identifier | None = None
    """`factory(**arguments)` gives samples: {id, feeds: {input: array}, labels}."""
    arguments: Arguments = {}
    """Keyword arguments of the factory."""
    files: RelativePath | None = None
    """Glob of .npz files, one sample each: feeds by input name, labels as `label.*`."""
    random: Random | None = None
    """No data at hand: inputs drawn at random; every report warns of it."""
    reads: Annotated[tuple[RelativePath, ...], FromList] = ()
    """Globs of what native code opens, where the system cannot tell us (no inotify)."""


class Export(Block):
    """How PyTorch becomes ONNX. An ONNX source has no such block."""

    opset: Annotated[int, Field(ge=opsets.LOWEST, le=opsets.HIGHEST)] | None = None
    """Absent: 15 for CANN up to 8.1, else 18."""
    exporter: Annotated[str, one_of(vocabulary.EXPORTERS)] = "dynamo"
    """`dynamo` is PyTorch's present exporter, `torchscript` the one before."""
    max_relative_error: PositiveNumber = 1e-3
    """PyTorch against ONNX: max absolute error over the golden's range."""
    ranges: dict[str, Range] = {}
    """Per input: [low, high) of the values that the model is run on once to be exported.
    Absent: those of `samples.random`, else [0, 1), integers 0 and 1. No sample is used."""


class Simplify(Block):
    """onnxsim."""

    enabled: bool = True
    """`false` passes the model on as it is."""
    max_relative_error: PositiveNumber = 1e-4
    """Simplified against exported: max absolute error over the golden's range."""


class RuleUse(Block):
    """A rule, and where it must apply."""

    model_config = ConfigDict(json_schema_extra=KNOWN_RULE_UNLESS_FILE)

    name: Text
    """Of a rule of ascendflow, or of yours in `file`; `auto`: all that the target needs."""
    file: Module | None = None
    """Python file with a rule of your own, relative to this folder."""
    nodes: Annotated[tuple[Text, ...], FromList, NotEmpty] | None = None
    """Only these nodes, by name or glob (`/up*`), as the graph is when the rule's turn
    comes; one without a name is called as its first output. A name that matches no node of
    the rule's operators is an error. Absent: every node of these operators."""
    count: Annotated[int, Field(ge=1)] | None = None
    """How many nodes of the rule's operators `nodes` may match at most, whether they are
    edited or left alone; more is an error. Absent: any number."""
    scale: Annotated[int, Field(ge=2, le=65536)] | None = None
    """What `scale-conv` and `scale-rmsnorm` divide by: a power of two; others take none."""


class Rewrite(Block):
    """Which rules edit the graph. Only the order of your own counts; they come last."""

    rules: Annotated[
        tuple[Annotated[RuleUse, RuleOrName()], ...],
        FromList,
        RulesOrAuto(),
    ] = ()
    """`auto`, or a list of names and {name, nodes, count, scale, file}."""
    allow_lossy: bool = False
    """Accept rules that change values beyond rounding."""


class Compare(Block):
    """Node by node comparison."""

    node_samples: Annotated[int, Field(ge=0)] = 1
    """On how many samples all tensors are compared; outputs are, on all. 0: on none."""
    dump_gb: PositiveNumber = 8
    """Gigabytes that a device may dump of one sample; for backend `cann` only."""
    nodes_by: Annotated[str, one_of(vocabulary.NODES_BY)] = "dump"
    """What compares nodes with backend `cann`: `dump`, ascendflow reads what the device
    dumps; `msprobe`, Ascend's tool in `infer.python`, on this machine only."""


class Limits(Block):
    """What one stage may use; beyond it, it is ended."""

    timeout_s: PositiveNumber | None = None
    """Seconds of wall time."""
    memory_gb: PositiveNumber | None = None
    """Gigabytes of memory."""


class Evaluate(Block):
    """The end metric: `factory(outputs, samples, **arguments) -> float`."""

    module: Module
    """Python file, relative to this folder; better not the one of the samples."""
    factory: Identifier
    """`factory(outputs, samples, **arguments)` gives one number."""
    arguments: Arguments = {}
    """Keyword arguments of the factory."""
    direction: Annotated[str, one_of(vocabulary.DIRECTIONS)]
    """Whether `higher` or `lower` is better."""


class Threshold(Block):
    """`min` for a metric where higher is better, `max` where lower is."""

    min: Number | None = None
    max: Number | None = None


class GateMetric(Block):
    """How far the end metric may fall."""

    max_relative_drop: Ratio
    """(golden - target) / golden; for a lower-is-better metric, the rise."""
    against: Annotated[str, one_of(vocabulary.GOLDENS)] = "onnx"
    """Whose end metric is the golden one."""


class Gate(Block):
    """The numbers that must hold, on the worst sample.

    Of outputs pairwise: ONNX and target; from PyTorch, PyTorch and each of them too. What
    "*" says holds for an output that is named as well, unless it names the same metric.
    Where "*" names none for floats, it is cosine_similarity >= 0.999; none for integers, no
    mismatch. Cosine similarity does not see scale: relative_euclidean_distance does.
    """

    outputs: Annotated[dict[str, dict[str, Threshold]], Thresholds] = {}
    """Per output name, or "*" for all: {metric: {min or max: number}}."""
    metric: GateMetric | None = None
    """For the end metric of `evaluate`."""


class Manifest(Block):
    """One model's road to an OM."""

    model_config = ConfigDict(json_schema_extra=BETWEEN_BLOCKS)

    schema_version: Literal[1]
    """The version of this format."""
    model: ModelName
    """The name of this folder."""
    source: Source
    inputs: Annotated[tuple[Input, ...], FromList, NotEmpty]
    """In the model's order, with the shapes the target is built for."""
    samples: Samples
    export: Export | None = None
    simplify: Simplify = Simplify()
    rewrite: Rewrite = Rewrite()
    convert: Convert
    compare: Compare = Compare()
    limits: Limits = Limits()
    environment: dict[str, str] = {}
    """Variables that each stage sees, beside a fixed few; part of every key."""
    infer: Infer = Infer()
    evaluate: Evaluate | None = None
    gate: Gate = Gate()
