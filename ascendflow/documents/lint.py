"""lint.json: where a target is known to differ from ONNX on one model."""

from __future__ import annotations

from typing import Literal, TypedDict

from ascendflow.documents.conversion import Confidence

Consequence = Literal["rejected", "silent", "precision", "unknown"]
"""`rejected`: ATC refuses the model. `silent`: it runs and gives other values.
`precision`: its values are less precise. `unknown`: no source says what it does."""

SEVERITIES: tuple[Consequence, ...] = ("rejected", "silent", "precision", "unknown")
"""Gravest first."""


class LintFinding(TypedDict):
    """One deviation that applies; `node` and `op_type` are null where it is of the model.

    `deviation` is its name, which docs/deviations.md lists; `reason` why it applies here;
    `confidence` how sure it is that CANN does so, as read in `source`.

    `consequence` is `rejected`: ATC refuses the model; `silent`: it runs and gives other
    values; `precision`: its values are less precise; `unknown`: no source says.

    `stops_convert`: the emulator converts no such model: what is rejected, and what is
    unknown, unless both things that CANN may do are computed. `rule` is the rule against
    it, where there is one; `skipped` is why it would leave this node alone, null where it
    would not. `advice` says what else to do, where that is known.
    """

    deviation: str
    consequence: Consequence
    node: str | None
    op_type: str | None
    reason: str
    stops_convert: bool
    confidence: Confidence
    source: str
    rule: str | None
    skipped: str | None
    advice: str | None


class DeviationText(TypedDict):
    """What ONNX says, and what CANN does instead."""

    onnx: str
    cann: str


class Lint(TypedDict):
    """What `lint` found: by severity, then in graph order, the whole model first.

    It is what `ascendflow lint --format json` prints, and a pipeline's `lint.json`. `nodes`
    and `totals` count the model's nodes, and findings by consequence. `deviations` says of
    each that was found what ONNX says and what CANN does. `unread` counts the constants
    that were too large to be looked at unasked.
    """

    schema_version: Literal[1]
    cann: str
    soc_version: str
    precision_mode: str
    nodes: int
    unread: int
    totals: dict[str, int]
    deviations: dict[str, DeviationText]
    findings: list[LintFinding]
