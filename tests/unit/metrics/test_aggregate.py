from __future__ import annotations

import math

from ascendflow.metrics.aggregate import Running, is_worse


def _run(metric: str, *values: float) -> object:
    running = Running(metric)
    for index, value in enumerate(values):
        running.add(f"s{index}", value)
    return running.result()


def test_worse_is_lower_for_a_similarity_and_higher_for_an_error() -> None:
    assert is_worse("cosine_similarity", 0.8, than=0.9)
    assert not is_worse("cosine_similarity", 0.9, than=0.8)
    assert is_worse("max_absolute_error", 0.9, than=0.8)
    assert not is_worse("max_absolute_error", 0.8, than=0.8)


def test_nothing_is_worse_than_nan() -> None:
    assert is_worse("cosine_similarity", math.nan, than=-1.0)
    assert not is_worse("max_absolute_error", math.inf, than=math.nan)
    assert not is_worse("max_absolute_error", math.nan, than=math.nan)


def test_the_worst_sample_is_named_beside_the_mean() -> None:
    assert _run("max_absolute_error", 1.0, 3.0, 2.0) == {
        "worst": 3.0,
        "mean": 2.0,
        "worst_sample": "s1",
    }


def test_a_nan_of_any_sample_stays_the_worst_and_the_mean() -> None:
    expected = {"worst": "NaN", "mean": "NaN", "worst_sample": "s1"}

    assert _run("cosine_similarity", 1.0, math.nan, 0.5) == expected
    assert _run("max_absolute_error", 1.0, math.nan, math.inf) == expected


def test_no_sample_has_no_worst() -> None:
    assert Running("cosine_similarity").result() is None
