from __future__ import annotations

import numpy as np

from ascendflow.metrics.extent import Extent


def test_the_extent_leaves_out_what_is_not_finite() -> None:
    assert Extent.of(np.array([1.0, -np.inf, 3.0, np.nan])) == Extent(1.0, 3.0)


def test_the_extent_of_nothing_has_scale_one() -> None:
    empty = Extent.of(np.array([np.nan]))

    assert (empty.width, empty.magnitude, empty.scale) == (0.0, 0.0, 1.0)
    assert empty.union(Extent(2.0, 4.0)) == Extent(2.0, 4.0)


def test_the_scale_is_the_range_then_the_magnitude_then_one() -> None:
    assert Extent(-1.0, 3.0).scale == 4.0
    assert Extent(-2.0, -2.0).scale == 2.0
    assert Extent(0.0, 0.0).scale == 1.0


def test_a_range_beyond_every_float_does_not_make_errors_vanish() -> None:
    assert Extent(-1e308, 1.5e308).relative(1.5e308) == 1.0
