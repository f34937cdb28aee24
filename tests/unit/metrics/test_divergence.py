from __future__ import annotations

import math

import numpy as np
import pytest

from ascendflow.metrics.divergence import kl_divergence

EPS = 2.0**-23
"""float32's epsilon, at which msaccucmp floors."""


def test_two_elements_give_the_closed_form() -> None:
    total = 1.5 + EPS
    golden, target = np.array([0.0, 1.0, 0.5]), np.array([0.0, 0.5, 1.0])
    expected = (1 * math.log(2) + 0.5 * math.log(0.5)) / total

    assert kl_divergence(golden, target) == pytest.approx(expected, rel=1e-14)


def test_it_is_of_the_target_from_the_golden_and_not_symmetric() -> None:
    one, other = np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.9, 1.0])
    p, q = np.array([EPS, 0.9, 1.0]), np.array([EPS, 0.2, 1.0])
    p, q = p / p.sum(), q / q.sum()

    assert kl_divergence(one, other) == pytest.approx((p * np.log(p / q)).sum(), rel=1e-13)
    assert kl_divergence(other, one) == pytest.approx((q * np.log(q / p)).sum(), rel=1e-13)


def test_it_is_blind_to_offset_and_scale() -> None:
    golden = np.random.default_rng(0).standard_normal(50)

    assert abs(kl_divergence(golden, 1000 * golden + 7)) < 1e-12


def test_a_constant_is_a_uniform_distribution() -> None:
    assert kl_divergence(np.full(4, -3.0), np.full(4, 8.0)) == 0.0
    assert kl_divergence(np.full(4, -3.0), np.array([0.0, 1.0, 2.0, 3.0])) > 0.1


def test_nothing_diverges_from_nothing() -> None:
    assert kl_divergence(np.empty(0), np.empty(0)) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_nonfinite_element_leaves_it_undefined(bad: float) -> None:
    assert math.isnan(kl_divergence(np.array([1.0, 2.0]), np.array([1.0, bad])))
    assert math.isnan(kl_divergence(np.array([1.0, bad]), np.array([1.0, bad])))
