from __future__ import annotations

import math

import numpy as np
import pytest

from ascendflow.metrics.similarity import cosine_similarity


def test_the_angle_of_60_degrees_gives_one_half() -> None:
    target = np.array([0.5, math.sqrt(3) / 2])

    assert cosine_similarity(np.array([1.0, 0.0]), target) == pytest.approx(0.5, abs=1e-15)


def test_two_zero_tensors_are_similar_and_one_alone_is_undefined() -> None:
    zero, one = np.zeros(8, np.float32), np.ones(8, np.float32)

    assert cosine_similarity(zero, zero) == 1.0
    assert math.isnan(cosine_similarity(zero, one))
    assert math.isnan(cosine_similarity(one, zero))


def test_the_sign_of_a_single_element_counts() -> None:
    assert cosine_similarity(np.array([5.0]), np.array([-5.0])) == -1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_nonfinite_element_leaves_it_undefined(bad: float) -> None:
    good, spoilt = np.array([1.0, 2.0]), np.array([1.0, bad])

    assert math.isnan(cosine_similarity(good, spoilt))
    assert math.isnan(cosine_similarity(spoilt, good))
    assert math.isnan(cosine_similarity(spoilt, spoilt))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_values_keep_their_direction(scale: float) -> None:
    golden = np.array([3.0, 4.0]) * scale

    assert cosine_similarity(golden, golden) == pytest.approx(1.0)
    assert cosine_similarity(golden, -golden) == pytest.approx(-1.0)


def test_half_precision_squares_do_not_overflow() -> None:
    golden = np.full(4, 60000, np.float16)

    assert cosine_similarity(golden, golden) == pytest.approx(1.0)


def test_different_shapes_are_refused_with_both() -> None:
    with pytest.raises(ValueError, match=r"golden \(8,\), target \(2, 4\)"):
        cosine_similarity(np.ones(8), np.ones((2, 4)))
