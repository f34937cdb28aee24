from __future__ import annotations

import numpy as np
import pytest

from ascendflow.graph.promise import Difference
from tests.models import F32

NAN, INF = float("nan"), float("inf")


def difference(before: np.ndarray, after: np.ndarray) -> Difference:
    found = Difference()
    found.add("s0", before, after)
    return found


def array(*numbers: float) -> np.ndarray:
    return np.array(numbers, F32)


@pytest.mark.parametrize(
    ("before", "after", "exact", "equivalent"),
    [
        pytest.param(array(1, 2), array(1, 2), True, True, id="same"),
        pytest.param(array(0, 1), array(-0.0, 1), False, True, id="negative-zero"),
        pytest.param(array(0, 10), array(0, 10.00009), False, True, id="within-1e-5"),
        pytest.param(array(0, 10), array(0, 10.0002), False, False, id="beyond-1e-5"),
        pytest.param(array(NAN, 1), array(NAN, 1), True, True, id="nan-stays"),
        pytest.param(array(1, 1), array(NAN, 1), False, False, id="nan-comes"),
        pytest.param(array(NAN, 1), array(1, 1), False, False, id="nan-goes"),
        pytest.param(array(INF, 1), array(-INF, 1), False, False, id="inf-turns"),
        pytest.param(array(INF, 1), array(INF, 1), True, True, id="inf-stays"),
        pytest.param(
            array(5, 5), array(5, 5.0001), False, False, id="constant-by-its-size"
        ),
        pytest.param(array(0, 0), array(0, 1e-6), False, True, id="zeros-by-the-error"),
        pytest.param(array(1, 2), array(1), False, False, id="shape"),
        pytest.param(array(1), np.array([1.0]), False, False, id="dtype"),
        pytest.param(np.array([3]), np.array([4]), False, False, id="integers"),
        pytest.param(np.array([True]), np.array([False]), False, False, id="bools"),
    ],
)
def test_promises_hold_or_break(
    before: np.ndarray, after: np.ndarray, exact: bool, equivalent: bool
) -> None:
    found = difference(before, after)

    assert (found.why_broken("exact") is None) is exact
    assert (found.why_broken("equivalent") is None) is equivalent
    assert found.why_broken("lossy") is None


def test_nan_of_other_bits_is_still_nan() -> None:
    before, after = (
        np.array([0x7FC00000, 0], np.uint32),
        np.array([0x7FC00001, 0], np.uint32),
    )

    assert difference(before.view(F32), after.view(F32)).why_broken("exact") is None


def test_the_range_is_that_of_all_samples() -> None:
    found = Difference()
    found.add("a", array(0.0), array(0.0))
    found.add("b", array(100.0), array(100.0005))

    assert found.range == 100
    assert found.why_broken("equivalent") is None


def test_a_range_beyond_every_float_does_not_allow_every_error() -> None:
    before = np.array([-1e308, 1.5e308])
    difference = Difference()
    difference.add("a", before, before * [1.0, 0.5])

    assert difference.why_broken("equivalent") is not None


def test_a_broken_promise_gives_both_values_and_the_sample() -> None:
    found = Difference()
    found.add("a", array(0, 1), array(0, 1))
    found.add("b", array(0.5, 1), array(0.75, 1))

    assert found.why_broken("exact") == (
        "max absolute error 0.25, allowed 0 (sample 'b': 0.5 became 0.75)"
    )


def test_infinities_are_compared_without_a_warning() -> None:
    before = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)
    after = np.array([np.inf, -np.inf, np.nan, 1.5], np.float32)
    difference = Difference()

    difference.add("s", before, after)

    assert difference.max_absolute_error == 0.5
    assert difference.mismatch is None


def test_a_range_that_is_only_rounding_is_none() -> None:
    """A Softmax of one element gives 1, or a little more: by its range nothing would do."""
    difference = Difference()
    difference.add("x", np.array([1, 1 + 2**-21], F32), np.array([1, 1], F32))

    assert difference.why_broken("equivalent") is None
    assert difference.why_broken("exact") is not None


def test_a_range_that_is_more_than_rounding_counts() -> None:
    difference = Difference()
    difference.add("x", np.array([1, 1 + 2**-18], F32), np.array([1, 1], F32))

    assert difference.why_broken("equivalent") is not None
