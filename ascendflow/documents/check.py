"""What the check stage found: every rule's promise, held on the samples."""

from __future__ import annotations

from typing import Literal, TypedDict

from ascendflow.documents.rewrite_log import Effect


class OutputDifference(TypedDict):
    """How far the rewritten model's output is from the simplified model's, worst sample.

    `range` is the largest minus the smallest value over all samples.
    """

    max_absolute_error: float
    range: float


class Promise(TypedDict):
    """One applied rule, and whether the samples bear out what it promises."""

    rule: str
    effect: Effect
    held: bool


class Check(TypedDict):
    """`check.json`."""

    schema_version: Literal[1]
    outputs: dict[str, OutputDifference]
    promises: list[Promise]
