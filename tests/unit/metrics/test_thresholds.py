from __future__ import annotations

import math

import pytest

from ascendflow.metrics.thresholds import Threshold, thresholds_of


@pytest.mark.parametrize(
    ("bound", "value", "allowed"),
    [
        ("min", 0.5, True),
        ("min", 0.4999, False),
        ("max", 0.5, True),
        ("max", 0.5001, False),
        ("min", math.nan, False),
        ("max", math.nan, False),
    ],
)
def test_a_value_on_the_threshold_passes_and_nan_never(
    bound: str, value: float, allowed: bool
) -> None:
    threshold = Threshold("max_absolute_error", "min" if bound == "min" else "max", 0.5)

    assert threshold.allows(value) is allowed


def test_a_threshold_that_is_nan_passes_nothing() -> None:
    assert not Threshold("max_absolute_error", "max", math.nan).allows(0.0)


def test_an_output_that_was_not_compared_still_has_a_threshold() -> None:
    assert thresholds_of({}, "y", None) == [Threshold("cosine_similarity", "min", 0.999)]


def test_both_bounds_of_one_metric_are_two_thresholds() -> None:
    gate = {"*": {"cosine_similarity": {"min": 0.9, "max": 0.99}}}

    assert [t.bound for t in thresholds_of(gate, "y", None)] == ["min", "max"]
