"""What `rules: auto` chose, spelled as a manifest would name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.manifest.templates import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping


def rules_written(report: Mapping[str, Any]) -> str:
    """Spell all rules that were applied, with their nodes; "" where `auto` chose none."""
    if not any(rule["deviations"] for rule in report["rules"]):
        return ""
    named: dict[tuple[str, str | None], list[str]] = {}
    for rule in report["rules"]:
        if rule["applied"]:
            named.setdefault((rule["rule"], rule["file"]), []).extend(rule["applied"])
    lines = ["rewrite:", "  rules:"]
    for (rule, file), nodes in named.items():
        theirs = f", file: {quoted(file)}" if file is not None else ""
        listed = ", ".join(map(quoted, nodes))
        lines.append(f"    - {{name: {quoted(rule)}{theirs}, nodes: [{listed}]}}")
    return "\n".join(lines) if named else ""
