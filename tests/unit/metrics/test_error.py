from __future__ import annotations

import math

import numpy as np
import pytest

from ascendflow.metrics import error

GOLDEN = np.array([1.0, -2.0, 4.0, 0.0])
TARGET = np.array([1.5, -2.0, 3.0, 2.0])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("max_absolute_error", 2.0),
        ("mean_absolute_error", 3.5 / 4),
        ("root_mean_square_error", math.sqrt(5.25 / 4)),
        ("max_relative_error", 0.5),
        ("mean_relative_error", 0.75 / 4),
        ("accumulated_relative_error", 0.75),
        ("relative_euclidean_distance", math.sqrt(5.25 / 21)),
        ("range_relative_error", 2.0 / 6),
    ],
)
def test_a_small_example_gives_what_paper_gives(metric: str, expected: float) -> None:
    assert getattr(error, metric)(GOLDEN, TARGET) == pytest.approx(expected, rel=1e-15)


ABSOLUTE = ["max_absolute_error", "mean_absolute_error", "root_mean_square_error"]
RELATIVE = ["max_relative_error", "mean_relative_error", "accumulated_relative_error"]
ERRORS = [*ABSOLUTE, *RELATIVE, "range_relative_error"]


@pytest.mark.parametrize("metric", ERRORS)
def test_the_same_infinity_on_both_sides_is_no_error(metric: str) -> None:
    tensor = np.array([1.0, np.inf, -np.inf])

    assert getattr(error, metric)(tensor, tensor) == 0.0


@pytest.mark.parametrize("metric", ERRORS)
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_an_infinity_on_one_side_is_an_infinite_error(metric: str, bad: float) -> None:
    whole, spoilt = np.array([1.0, 2.0]), np.array([1.0, bad])

    assert getattr(error, metric)(whole, spoilt) == math.inf
    assert getattr(error, metric)(spoilt, whole) == math.inf
    assert getattr(error, metric)(spoilt, np.array([1.0, -bad])) == math.inf


@pytest.mark.parametrize("metric", [*ERRORS, "relative_euclidean_distance"])
def test_a_nan_on_either_side_is_a_nan(metric: str) -> None:
    whole, spoilt = np.array([1.0, 2.0]), np.array([1.0, np.nan])

    assert math.isnan(getattr(error, metric)(whole, spoilt))
    assert math.isnan(getattr(error, metric)(spoilt, whole))
    assert math.isnan(getattr(error, metric)(spoilt, spoilt))


@pytest.mark.parametrize("metric", [*RELATIVE, "relative_euclidean_distance"])
def test_nothing_is_relative_to_a_golden_of_zeros(metric: str) -> None:
    zero = np.zeros(3)

    assert getattr(error, metric)(zero, zero) == 0.0
    assert math.isnan(getattr(error, metric)(zero, np.array([0.0, 1e-3, 0.0])))


@pytest.mark.parametrize("metric", [*ERRORS, "relative_euclidean_distance"])
def test_empty_tensors_do_not_differ(metric: str) -> None:
    assert getattr(error, metric)(np.empty(0), np.empty(0)) == 0.0


def test_a_constant_golden_is_measured_by_its_magnitude_and_zeros_by_nothing() -> None:
    assert error.range_relative_error(np.full(4, -8.0), np.full(4, -6.0)) == 0.25
    assert error.range_relative_error(np.zeros(4), np.full(4, 0.5)) == 0.5


def test_the_floored_error_sees_what_the_golden_has_as_zero() -> None:
    golden, target = np.array([0.0, 10.0]), np.array([0.001, 10.0])

    assert error.max_relative_error(golden, target) == 0.0
    floored = error.floored_max_relative_error(golden, target, scale=10.0)
    assert floored == pytest.approx(0.001 / 1e-5)


def test_the_floored_error_does_not_lose_nan_or_infinity() -> None:
    golden = np.array([1.0, 2.0])
    of_nan = error.floored_max_relative_error(golden, np.array([np.nan, 2.0]), scale=1.0)
    of_inf = error.floored_max_relative_error(np.array([np.inf, 2.0]), golden, scale=1.0)

    assert math.isnan(of_nan)
    assert of_inf == math.inf


def test_mismatch_is_counted_for_integers_and_booleans() -> None:
    assert error.mismatch_rate(np.array([1, 0]), np.array([0, 0])) == 0.5
    assert error.mismatch_rate(np.array([True]), np.array([True])) == 0.0
    assert error.mismatch_rate(np.empty(0, bool), np.empty(0, bool)) == 0.0


def test_mismatch_of_other_shapes_is_refused_and_not_broadcast() -> None:
    with pytest.raises(ValueError, match="shapes differ"):
        error.mismatch_rate(np.array([1, 1]), np.array([1]))
