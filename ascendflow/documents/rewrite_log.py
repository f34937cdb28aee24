"""The rewrite log: what each rule did to each node, or why it did nothing."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

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
    """All findings of one rule, in graph order; `arguments` where it took some.

    `file` is the user's, where the rule is theirs. `deviations` is deviation -> nodes that
    the rule was chosen for by `auto`; empty where the manifest names the rule.
    """

    rule: str
    version: int
    effect: Effect
    file: str | None
    deviations: dict[str, list[str]]
    applied: list[AppliedEntry]
    skipped: list[SkippedEntry]
    arguments: NotRequired[dict[str, Any]]


class RewriteLog(TypedDict):
    """`rewrite.json`; rules in the order they were applied in; `auto` may repeat one."""

    schema_version: Literal[1]
    rules: list[RuleEntry]
