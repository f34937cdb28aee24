"""Two behaviours of a target, and no source that says which it has: the worse is kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ascendflow.documents.numbers import decode
from ascendflow.metrics.registry import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ascendflow.documents.metrics import Aggregate, OutputComparison

DISTANCES = ("relative_euclidean_distance", "mismatch_rate")
"""What tells which of two behaviours is farther from the golden."""


def worse(
    first: OutputComparison, second: OutputComparison, behaviours: Sequence[str]
) -> OutputComparison:
    """Join two comparisons of one output; each number is of the behaviour it is worse by.

    Whatever is judged by the result passes only if it passes under both.

    Args:
        first: the output under the first behaviour.
        second: the same under the second; both against one golden.
        behaviours: their names.
    """
    names = list(dict.fromkeys((*first["metrics"], *second["metrics"])))
    metrics = {
        name: _worse(
            name, first["metrics"].get(name), second["metrics"].get(name), behaviours
        )
        for name in names
    }
    farther_one = (first, second)[farther([first], [second])]
    return {
        **farther_one,
        "metrics": {name: found for name, found in metrics.items() if found},
        "floored_max_relative_error": _worse(
            "max_relative_error",
            first["floored_max_relative_error"],
            second["floored_max_relative_error"],
            behaviours,
        ),
        "target_nonfinite": max(first["target_nonfinite"], second["target_nonfinite"]),
        "problems": [
            {**problem, "problem": f"{problem['problem']}, if {behaviour}"}
            for each, behaviour in zip((first, second), behaviours, strict=True)
            for problem in each["problems"]
        ],
    }


def farther(first: Sequence[OutputComparison], second: Sequence[OutputComparison]) -> int:
    """Return which of two lists of outputs is farther from the golden, 0 or 1."""
    return int(_distance(second) > _distance(first))


def _distance(outputs: Sequence[OutputComparison]) -> tuple[int, float]:
    """Return how many problems there are, and the largest distance; NaN is farthest."""
    numbers = [
        decode(found["metrics"][name]["worst"])
        for found in outputs
        for name in DISTANCES
        if name in found["metrics"]
    ]
    far = [math.inf if math.isnan(number) else number for number in numbers]
    return sum(len(found["problems"]) for found in outputs), max(far, default=0.0)


def _worse(
    name: str,
    first: Aggregate | None,
    second: Aggregate | None,
    behaviours: Sequence[str],
) -> Aggregate | None:
    if first is None or second is None:
        index = 0 if second is None else 1
    else:
        # The larger is the worse, once turned; NaN, which never passes, is the worst.
        sign = 1 if METRICS[name].direction == "lower" else -1
        turned = [sign * decode(each["worst"]) for each in (first, second)]
        ranks = [math.inf if math.isnan(number) else number for number in turned]
        index = int(ranks[1] > ranks[0])
    found = (first, second)[index]
    return None if found is None else {**found, "behaviour": behaviours[index]}
