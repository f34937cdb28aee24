"""Holds a rewritten model to what its rules promise of every output."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import onnx

from ascendflow.graph.promise import Difference
from ascendflow.graph.rewrite import Request, rewrite
from ascendflow.graph.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

KEEPING = tuple(
    rule.name for rule in RULES if rule.effect != "lossy" and not rule.arguments
)
"""What may be applied anywhere; a rule with arguments is told where."""
LOSSY = tuple(rule.name for rule in RULES if rule.effect == "lossy")
_EFFECTS = {rule.name: rule.effect for rule in RULES}


class Rewritten(NamedTuple):
    """A model after rules, the names of those that changed it, and why others did not."""

    model: onnx.ModelProto
    applied: list[str]
    idle: list[str]


def rewritten(proto: onnx.ModelProto, rules: Sequence[str]) -> Rewritten:
    """Apply rules to every node, as the rewrite stage does."""
    with TemporaryDirectory() as folder:
        source, edited = Path(folder) / "model.onnx", Path(folder) / "edited.onnx"
        onnx.save(proto, source)
        applied, idle = rewrite_file(source, edited, rules)
        return Rewritten(onnx.load(edited), applied, idle)


def rewrite_file(
    source: Path, edited: Path, rules: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Do that to a file; returns who changed it, and why others did not."""
    done = rewrite(source, edited, [Request(rule) for rule in rules])
    applied = [entry["rule"] for entry in done.log["rules"] if entry["applied"]]
    return applied, done.warnings


def why_broken(
    before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray], rules: Sequence[str]
) -> str | None:
    """Say where outputs differ by more than the weakest promise of `rules`, or None."""
    if before.keys() != after.keys():
        return f"outputs {list(after)}, not {list(before)}"
    exact = all(_EFFECTS[rule] == "exact" for rule in rules)
    for name, old in before.items():
        difference = Difference()
        difference.add("random", old, after[name])
        # Outputs that are all alike have next to no range; sums round even so.
        rounding = 0.0 if exact else 1e-6 * max(-difference.lowest, difference.highest, 0)
        if difference.mismatch is None and difference.max_absolute_error <= rounding:
            continue
        if (why := difference.why_broken("exact" if exact else "equivalent")) is not None:
            return f"{name!r} after {', '.join(rules)}: {why}"
    return None
