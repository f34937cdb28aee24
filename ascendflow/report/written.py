"""The rules that were applied, as a manifest without `auto` would name them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ascendflow.manifest.templates import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping


def rules_written(report: Mapping[str, Any]) -> str:
    """Spell all rules that were applied, with their nodes; "" where `auto` chose none."""
    if not any(rule["deviations"] for rule in report["rules"]):
        return ""
    applied = [rule for rule in report["rules"] if rule["applied"]]
    named: dict[tuple[str, str], list[str]] = {}
    for rule in applied:
        named.setdefault((rule["rule"], _more(rule)), []).extend(rule["applied"])
    lines = ["rewrite:", "  rules:"]
    for (name, more), nodes in named.items():
        listed = ", ".join(map(quoted, nodes))
        lines.append(f"    - {{name: {quoted(name)}{more}, nodes: [{listed}]}}")
    if any(rule["effect"] == "lossy" for rule in applied):
        lines.append("  allow_lossy: true")
    return "\n".join(lines) if named else ""


def _more(rule: Mapping[str, Any]) -> str:
    """Spell where a rule is from, and what it was told."""
    file = rule["file"]
    more = "" if file is None else f", file: {quoted(file)}"
    for key, value in rule.get("arguments", {}).items():
        more += f", {key}: {json.dumps(value)}"
    return more
