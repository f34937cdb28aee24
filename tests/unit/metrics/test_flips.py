from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.metrics.flips import flipped_places

VALUES = np.array(
    [[1.0, 5.0, 5.25], [7.0, 7.0, 0.0], [9.0, 1.0, 0.0], [4.0, 3.0, 2.0]], dtype=np.float32
)
CHOSEN = np.array([[2], [0], [0], [0]])


def test_each_index_that_differs_is_told_by_the_gap_of_its_values() -> None:
    instead = np.array([[1], [1], [1], [0]])  # a near tie, a tie, neither, and the same
    target = VALUES + np.array([[0.125], [0.5], [1.0], [0.0]])

    found = flipped_places((VALUES, CHOSEN), (target, instead), axis=1)

    assert found == {
        "places": 4,
        "differing": 3,
        "tied": 1,
        "near": 1,  # 0.25 apart, twice 0.125; 8 apart is more than twice 1
        "largest_gap": 8.0,
        "largest_error": 1.0,
    }


def test_values_without_an_error_explain_nothing() -> None:
    found = flipped_places((VALUES, CHOSEN), (VALUES, CHOSEN - 1), axis=1)

    # -1 is the last: 5.25 to 5.0; 7.0 to 0.0, 9.0 to 0.0, 4.0 to 2.0
    assert (found["differing"], found["tied"], found["near"]) == (4, 0, 0)
    assert found["largest_gap"] == 9.0


def test_an_index_beyond_the_axis_and_nan_are_near_nothing() -> None:
    beyond = flipped_places((VALUES, CHOSEN), (VALUES + 100, CHOSEN + 3), axis=1)
    nan = VALUES.copy()
    nan[:, 0] = np.nan
    undefined = flipped_places((nan, CHOSEN), (VALUES + 100, CHOSEN * 0 + 1), axis=1)

    assert (beyond["differing"], beyond["near"]) == (4, 0)
    assert beyond["largest_gap"] == "NaN"
    assert (undefined["differing"], undefined["near"]) == (4, 0)


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="shapes differ"):
        flipped_places((VALUES, CHOSEN), (VALUES[:2], CHOSEN[:2]), axis=1)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.booleans())
def test_what_sorting_noisy_values_flips_is_always_near(
    seed: int, k: int, small: bool
) -> None:
    """The choice is a sort by numpy: no flip of the k largest is beyond twice the noise."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(5, 6))
    noisy = values + generator.normal(size=values.shape) * (0.01 if small else 1.0)
    top = [np.argsort(-each, axis=0, kind="stable")[:k] for each in (values, noisy)]

    found = flipped_places((values, top[0]), (noisy, top[1]), axis=0)

    assert found["differing"] == np.count_nonzero(top[0] != top[1])
    assert found["near"] == found["differing"]
