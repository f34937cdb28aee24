"""One output over all samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.documents.numbers import encode
from ascendflow.metrics.aggregate import Running
from ascendflow.metrics.error import floored_max_relative_error
from ascendflow.metrics.extent import Extent
from ascendflow.metrics.measure import measure
from ascendflow.metrics.pairs import kind_of
from ascendflow.metrics.sets import in_order_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ascendflow.documents.metrics import (
        Aggregate,
        Kind,
        OutputComparison,
        Pair,
        Problem,
    )
    from ascendflow.metrics.measure import Each, Measurement

    Tensor = NDArray[np.generic]

SMALL = 8
"""Of fewer elements a cosine says too little to pass an output on its own."""


class OutputSeries:
    """Takes one output sample by sample; its result is an `OutputComparison`.

    Args:
        pair: which two models are compared.
        name: of the output.
        each: see `measure`.
        items: the axis along which the output's items lie, if it is a set.
    """

    def __init__(
        self, pair: Pair, name: str, each: Each = map, *, items: int | None = None
    ) -> None:
        self._pair: Pair = pair
        self._name, self._each, self._items = name, each, items
        self._kind: Kind = "float"
        self._sizes: list[int] = []
        self._extent = Extent()
        self._running: dict[str, Running] = {}
        self._largest_errors: list[tuple[str, float]] = []
        self._small: list[tuple[str, Tensor, Tensor]] = []
        self._statistics: dict[str, float] = {}
        self._nonfinite = [0, 0]
        self._problems: list[Problem] = []

    def add(self, sample: str, golden: Tensor | None, target: Tensor | None) -> None:
        """Compare one sample; None where the output is missing."""
        if golden is not None:
            self._kind = kind_of(golden.dtype) or "discrete"
            self._sizes.append(golden.size)
        why = _why_incomparable(golden, target)
        if golden is None or target is None or why is not None:
            self._refuse(sample, why or "is missing")
            return
        if self._items is not None:
            target = in_order_of(golden, target, self._items)
        measured = measure(golden, target, each=self._each)
        self._keep(sample, measured)
        if self._kind == "float" and golden.size < SMALL:
            self._small.append((sample, golden, target))  # until the range is known

    def result(self) -> OutputComparison:
        """Return what was found, with the range over all samples."""
        for sample, error in self._largest_errors:
            self._add("range_relative_error", sample, self._extent.relative(error))
        aggregates = {name: running.result() for name, running in self._running.items()}
        samples = max(len(self._largest_errors), 1)
        return {
            "pair": self._pair,
            "name": self._name,
            "kind": self._kind,
            "smallest_size": min(self._sizes, default=0),
            "golden_range": encode(self._extent.scale),
            "metrics": {name: found for name, found in aggregates.items() if found},
            "floored_max_relative_error": self._floored(),
            "statistics": {k: encode(v / samples) for k, v in self._statistics.items()},
            "golden_nonfinite": self._nonfinite[0],
            "target_nonfinite": self._nonfinite[1],
            "problems": self._problems,
        }

    def _keep(self, sample: str, measured: Measurement) -> None:
        for name, value in measured.metrics.items():
            if name != "range_relative_error":
                self._add(name, sample, value)
        for name, value in measured.statistics.items():
            self._statistics[name] = self._statistics.get(name, 0.0) + value
        if self._kind == "float":
            self._extent = self._extent.union(measured.extent)
            error = measured.metrics["max_absolute_error"]
            self._largest_errors.append((sample, error))
        self._nonfinite[0] += measured.golden_nonfinite
        self._nonfinite[1] += measured.target_nonfinite
        if (reason := _why_never(measured)) is not None:
            self._refuse(sample, reason)

    def _floored(self) -> Aggregate | None:
        running = Running("max_relative_error")
        for sample, golden, target in self._small:
            value = floored_max_relative_error(golden, target, scale=self._extent.scale)
            running.add(sample, value)
        return running.result()

    def _add(self, metric: str, sample: str, value: float) -> None:
        self._running.setdefault(metric, Running(metric)).add(sample, value)

    def _refuse(self, sample: str, problem: str) -> None:
        self._problems.append({"sample": sample, "problem": problem})


def _why_incomparable(golden: Tensor | None, target: Tensor | None) -> str | None:
    """Return why the pair has no numbers, or None."""
    if golden is None:
        return "the golden has no such output"
    if target is None:
        return "the target has no such output"
    if golden.dtype != target.dtype:
        return f"golden is {golden.dtype.name}, target {target.dtype.name}"
    if golden.shape != target.shape:
        return f"shapes differ: golden {list(golden.shape)}, target {list(target.shape)}"
    if kind_of(golden.dtype) is None:
        return f"{golden.dtype.name} is not compared"
    return None


def _why_never(measured: Measurement) -> str | None:
    """Return why the numbers may not pass, whatever the thresholds are, or None."""
    if measured.introduced_nonfinite:
        return (
            f"the target has {measured.introduced_nonfinite} NaN or infinite elements "
            "that the golden has not"
        )
    if measured.lost_nonfinite:
        return (
            f"the golden has {measured.lost_nonfinite} NaN or infinite elements "
            "that the target has not"
        )
    return None
