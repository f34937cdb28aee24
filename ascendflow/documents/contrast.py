"""contrast.json: what the emulator predicted, against what a device did; made to be sent.

It holds names, attributes, shapes and numbers, and no weight, tensor, sample, path or host.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from ascendflow.documents.numbers import Number

Standing = Literal["both", "predicted_only", "measured_only", "neither"]
"""Which of the two says that a node is beyond the limits of a divergent node."""


class Side(TypedDict):
    """One of the two, and what its gate says.

    `failed` names the failed checks; `versions` the packages of a real toolkit, empty for
    an emulation.
    """

    backend: str
    is_real_device: bool
    cann: str
    soc_version: str
    precision_mode: str
    passed: bool
    checks: int
    failed: list[str]
    versions: dict[str, str]


class OutputContrast(TypedDict):
    """One output of the device against the emulated one, over all samples.

    `behaviour` names the one of two things that was emulated, where no source says which
    CANN does; else it is "". Each metric is that of the worst sample.
    """

    name: str
    behaviour: str
    metrics: dict[str, Number]
    problem: str | None


class NodeContrast(TypedDict):
    """One tensor: its predicted error, and the measured one, both against the same golden.

    `disagreement` is how far the two are apart in `metric`, infinite where one of them is
    no number or has NaN and infinities of its own; null where they share no metric. `added`
    is what is left of it beyond the largest of the node's inputs: near 0, the node only
    passes on what came before. The counts are of NaN and infinities that the golden has
    not. `findings` are deviations that were found at the node,
    `emulated` those that were computed there.
    """

    tensor: str
    node: str
    op_type: str
    predicted_op: str | None
    measured_op: str | None
    attributes: dict[str, str]
    shapes: dict[str, list[int | str]]
    predicted: dict[str, Number]
    measured: dict[str, Number]
    metric: str | None
    disagreement: Number | None
    added: Number | None
    standing: Standing
    predicted_nonfinite: int
    measured_nonfinite: int
    problem: str | None
    findings: list[str]
    emulated: list[str]


class Contrast(TypedDict):
    """`contrast.json`.

    `nodes` are those that both sides have, the largest `added` first; `alone` are tensors
    that only one side gave: side -> names. `whole` are findings of no node of its own.
    `why_no_nodes` says why `nodes` is empty, where it is. `not_emulated` are the keys of
    the manifest's convert block that the emulator leaves out.
    """

    schema_version: Literal[1]
    ascendflow: str
    model: str
    predicted: Side
    measured: Side
    samples: int
    node_samples: int
    outputs: list[OutputContrast]
    nodes: list[NodeContrast]
    why_no_nodes: str | None
    alone: dict[Literal["predicted", "measured"], list[str]]
    whole: list[str]
    not_emulated: list[str]
