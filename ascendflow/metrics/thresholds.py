"""Which thresholds hold for which output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ascendflow.errors import StageError
from ascendflow.manifest.problems import closest
from ascendflow.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.documents.metrics import OutputComparison

    Gate = Mapping[str, Mapping[str, Mapping[str, float]]]

EVERY_OUTPUT = "*"

DISCRETE_METRIC = "mismatch_rate"

FLOORED = "floored_max_relative_error"
"""Not a metric of its own: max_relative_error, with its denominator floored."""

OF_THE_WHOLE = frozenset(
    {"cosine_similarity", "kl_divergence", "relative_euclidean_distance"}
)
"""Metrics that a small element may fail to move, though it is nothing like the golden."""


class Threshold(NamedTuple):
    """One limit for one metric; a value equal to it passes."""

    metric: str
    bound: Literal["min", "max"]
    limit: float

    def allows(self, value: float) -> bool:
        """Say whether `value` is on the right side; NaN is on none."""
        return value >= self.limit if self.bound == "min" else value <= self.limit


DEFAULT = Threshold("cosine_similarity", "min", 0.999)
DEFAULT_DISCRETE = Threshold(DISCRETE_METRIC, "max", 0.0)

FEW_ELEMENTS = 8
FEW_ELEMENTS_THRESHOLD = Threshold(FLOORED, "max", 0.01)
"""What is of the whole alone never passes an output of fewer than 8 elements."""


def refuse_unknown_outputs(gate: Gate, outputs: Sequence[str]) -> None:
    """Raise StageError if the gate names what is no output: all such, and the real ones."""
    unknown = [name for name in gate if name != EVERY_OUTPUT and name not in outputs]
    if unknown:
        real = ", ".join(repr(output) for output in outputs)
        meant = closest(unknown[0], outputs) if len(unknown) == 1 else None
        raise StageError(
            "\n".join(f"gate: {name!r} is no output of the model" for name in unknown),
            hint=meant or f"its outputs are {real}; '*' stands for all",
            keys=("gate", "outputs", unknown[0]),
        )


def thresholds_of(gate: Gate, name: str, found: OutputComparison | None) -> list[Threshold]:
    """List what output `name` must hold: what "*" says, but for the metrics it names.

    Raises:
        StageError: the gate asks this output by name for a metric that it does not have.
    """
    discrete = found is not None and found["kind"] == "discrete"
    named = gate.get(name) or {}
    asked = [
        Threshold(metric, "min" if bound == "min" else "max", limit)
        for metric, limits in {**gate.get(EVERY_OUTPUT, {}), **named}.items()
        for bound, limit in limits.items()
    ]
    fitting = [t for t in asked if (t.metric == DISCRETE_METRIC) == discrete]
    for threshold in asked:
        if found and threshold.metric in named and threshold not in fitting:
            raise _not_measured(threshold, found)
    chosen = fitting or [DEFAULT_DISCRETE if discrete else DEFAULT]
    if found and not discrete and _needs_more(chosen, found):
        chosen = [*chosen, FEW_ELEMENTS_THRESHOLD]
    return chosen


def _needs_more(chosen: list[Threshold], found: OutputComparison) -> bool:
    few = found["smallest_size"] < FEW_ELEMENTS
    return few and all(threshold.metric in OF_THE_WHOLE for threshold in chosen)


def _not_measured(threshold: Threshold, found: OutputComparison) -> StageError:
    discrete = found["kind"] == "discrete"
    kind = "integers or booleans" if discrete else "floats"
    measured = [metric for metric, _ in METRICS if (metric == DISCRETE_METRIC) == discrete]
    return StageError(
        f"gate: output {found['name']!r} holds {kind}, for which there is no "
        f"{threshold.metric}",
        hint=f"measured are: {', '.join(measured)}",
    )
