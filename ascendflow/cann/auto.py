"""Which rules a target needs on a model: the cures of what lint finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.cann.lint import lint_gears
from ascendflow.cann.setting_files import settings_in
from ascendflow.cann.target import Target, why_refused
from ascendflow.errors import NotModelledError
from ascendflow.graph.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.graph.rewrite import Cures


def choose(
    model: ir.Model, config: Mapping[str, Any], files: Mapping[str, Path] | None = None
) -> Cures:
    """Return rule -> node -> the deviations that the rule is against there.

    Only rules that change nothing beyond rounding are chosen; loss is the user's to accept.

    Args:
        model: loaded with its shapes, and those of its gears.
        config: a target as the manifest spells it.
        files: option -> the file that says it in place of the manifest.

    Raises:
        NotModelledError: nothing is known of the target, so nothing can be chosen for it.
    """
    config = {**config, **settings_in(files or {})}
    if (reason := why_refused(config)) is not None:
        raise NotModelledError(
            f"rewrite.rules: auto cannot choose: {reason}",
            hint="name the rules in place of auto, or write `rules: []`",
        )
    usable = {
        rule.name: rule for rule in RULES if rule.effect != "lossy" and not rule.arguments
    }
    chosen: dict[str, dict[ir.Node, list[str]]] = {}
    for finding in lint_gears(model, Target.of(config)):
        rule = usable.get(finding.deviation.cure or "")
        if rule is None:
            continue
        node = finding.node
        for each in rule.candidates(model) if node is None else rule.against(node, model):
            names = chosen.setdefault(rule.name, {}).setdefault(each, [])
            if finding.deviation.name not in names:
                names.append(finding.deviation.name)
    return chosen
