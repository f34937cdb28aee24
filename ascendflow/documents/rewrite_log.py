"""The rewrite log: what each rule did to each node, or why it did nothing."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Effect = Literal["exact", "equivalent", "lossy"]


class AppliedEntry(TypedDict):
    """One node that a rule changed; `before` and `after` name what it changed."""

    node: str
    op_type: str
    before: dict[str, Any]
    after: dict[str, Any]


class SkippedEntry(TypedDict):
    """One node that a rule left alone, and why."""

    node: str
    op_type: str
    reason: str


class RuleEntry(TypedDict):
    """All findings of one rule, in graph order."""

    rule: str
    version: int
    effect: Effect
    applied: list[AppliedEntry]
    skipped: list[SkippedEntry]


class RewriteLog(TypedDict):
    """`rewrite.json`; rules in the order in which they were applied."""

    schema_version: Literal[1]
    rules: list[RuleEntry]
