"""Many samples' numbers as one: which was worst, and what they were on average."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ascendflow.documents.numbers import encode
from ascendflow.vocabulary import METRICS

if TYPE_CHECKING:
    from ascendflow.documents.metrics import Aggregate

DIRECTIONS = dict(METRICS)


def is_worse(metric: str, value: float, than: float) -> bool:
    """Say whether `value` is worse than `than`; nothing is worse than NaN."""
    if math.isnan(value) or math.isnan(than):
        return math.isnan(value) and not math.isnan(than)
    return value < than if DIRECTIONS[metric] == "higher" else value > than


class Running:
    """The worst and the mean of one metric, sample after sample."""

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._count = 0
        self._sum = 0.0
        self._worst: tuple[float, str] | None = None

    def add(self, sample: str, value: float) -> None:
        """Take the value of one sample."""
        self._count += 1
        self._sum += value
        if self._worst is None or is_worse(self._metric, value, self._worst[0]):
            self._worst = (value, sample)

    def result(self) -> Aggregate | None:
        """Return worst, mean and worst sample, or None if there was no sample."""
        if self._worst is None:
            return None
        return {
            "worst": encode(self._worst[0]),
            "mean": encode(self._sum / self._count),
            "worst_sample": self._worst[1],
        }
