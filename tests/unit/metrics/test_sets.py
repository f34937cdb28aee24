from __future__ import annotations

import numpy as np
import pytest

from ascendflow.metrics.outputs import OutputSeries
from ascendflow.metrics.sets import in_order_of


def detections(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((count, 6), np.float32)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.bool])
def test_same_items_in_any_order_are_the_golden(axis: int, dtype: type) -> None:
    rng = np.random.default_rng(1)
    golden: np.ndarray = rng.integers(0, 3, (40, 3, 40)).astype(
        dtype
    )  # with items that repeat
    order = rng.permutation(golden.shape[axis])

    found = in_order_of(golden, np.take(golden, order, axis), axis)

    np.testing.assert_array_equal(found, golden, strict=True)


def test_items_that_moved_a_little_find_their_own() -> None:
    golden = detections(50, seed=2)
    order = np.random.default_rng(3).permutation(50)
    moved = golden + np.float32(1e-4)

    np.testing.assert_array_equal(in_order_of(golden, moved[order], 0), moved)


def test_item_of_the_target_stands_for_one_of_the_golden_alone() -> None:
    golden = np.array([[0, 0, 2], [0, 0, 0]])
    target = np.array([[0, 0, 0], [0, 0, 0]])

    found = in_order_of(golden, target, 0)

    assert (found != golden).sum() == 1
    assert sorted(found.tolist()) == sorted(target.tolist())


def test_item_that_the_golden_has_twice_is_wanted_twice() -> None:
    golden = np.array([[1], [1], [2]])
    target = np.array([[1], [2], [3]])

    found = in_order_of(golden, target, 0)

    assert found.tolist() == [[1], [3], [2]]


def test_nan_pairs_with_what_is_left() -> None:
    golden = np.array([[1.0], [2.0], [np.inf]])
    target = np.array([[np.nan], [np.inf], [1.0]])

    found = in_order_of(golden, target, 0)

    np.testing.assert_array_equal(found, [[1.0], [np.nan], [np.inf]])


def test_nan_is_no_items_nearest() -> None:
    golden = np.array([[5.0, 0.0], [1.0, 0.0]])
    target = np.array([[np.nan, 0.0], [5.1, 0.0]])

    np.testing.assert_array_equal(in_order_of(golden, target, 0), target[::-1])


@pytest.mark.parametrize("items", [0, None])
def test_series_takes_a_set_as_one_and_all_else_in_order(items: int | None) -> None:
    golden = np.array([[0, 0, 2], [0, 0, 0]])  # OP04's
    series = OutputSeries("onnx-target", "y", items=items)

    series.add("turned", golden, golden[::-1])

    expected = 0.0 if items == 0 else 2 / 6
    assert series.result()["metrics"]["mismatch_rate"]["worst"] == expected


def test_another_number_of_items_is_no_equal_set() -> None:
    series = OutputSeries("onnx-target", "y", items=0)

    series.add("more", np.zeros((2, 3), np.int64), np.zeros((3, 3), np.int64))

    (problem,) = series.result()["problems"]
    assert problem["problem"] == "shapes differ: golden [2, 3], target [3, 3]"
