"""The high_performance Sigmoid against transcriptions in numpy's float16."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulation import Linted, emulate, linted
from tests.models import F32, model, node, run

F16 = np.float16
PROTO = model([node("Sigmoid", ["x"], ["y"], name="s")], [("x", [257])], [("y", [257])])
X = np.concatenate([np.linspace(-9, 9, 254), [300, -300, 65504]]).astype(F32)
KEEP = {"precision_mode": "must_keep_origin_dtype"}
FOR_ALL = {"op_select_implmode": "high_performance_for_all"}


def polynomial(x: np.ndarray, dtype: type) -> np.ndarray:
    """Each constant and each step in `dtype`; beyond fp16's range 310P saturates."""

    def kept(value: np.ndarray) -> np.ndarray:
        limit = np.finfo(dtype).max
        inside: np.ndarray = np.clip(value, -limit, limit)
        return inside.astype(dtype)

    a, b, c, half = (dtype(k) for k in (0.229270815, -0.0102459298, 0.00020769753, 0.5))
    x = x.astype(dtype)
    with np.errstate(over="ignore"):
        square = kept(x * x)
        y = kept(kept(square * c) + b)
        y = kept(kept(square * y) + a)
        y = kept(kept(x * y) + half)
    clipped: np.ndarray = np.clip(y, 0, 1)
    return clipped.astype(F32)


def test_it_is_the_polynomial_in_fp16() -> None:
    y = emulate(PROTO, {"x": X}, **FOR_ALL)["y"]

    np.testing.assert_array_equal(y, polynomial(X, F16))
    assert np.abs(y - run(PROTO, {"x": X})["y"]).max() > 0.01


def test_it_is_the_polynomial_in_fp32_where_the_data_is() -> None:
    y = emulate(PROTO, {"x": X}, **FOR_ALL, **KEEP)["y"]

    np.testing.assert_allclose(y, polynomial(X, F32), rtol=0, atol=2e-6)


def test_on_910b_every_step_is_fp16() -> None:
    x = X.astype(F16)
    with np.errstate(over="ignore"):
        exp = np.exp(-x.astype(F32)).astype(F16)  # computed wide, rounded once
    expected = (F16(1) / (F16(1) + exp)).astype(F32)

    y = emulate(PROTO, {"x": X}, soc_version="Ascend910B1", **FOR_ALL)["y"]
    precise = emulate(PROTO, {"x": X}, soc_version="Ascend910B1")["y"]

    np.testing.assert_array_equal(y, expected)
    assert (y != precise).sum() > 20


@pytest.mark.parametrize(
    ("settings", "is_found"),
    [
        (FOR_ALL, True),
        ({"op_select_implmode": "high_performance"}, False),
        (
            {
                "op_select_implmode": "high_performance",
                "optypelist_for_implmode": ["Sigmoid"],
            },
            True,
        ),
        (
            {
                "op_select_implmode": "high_performance",
                "optypelist_for_implmode": ["Tanh"],
            },
            False,
        ),
        ({"op_select_implmode": "high_precision_for_all"}, False),
        ({}, False),
        ({**FOR_ALL, "soc_version": "Ascend910B1"}, True),
        ({**FOR_ALL, **KEEP, "soc_version": "Ascend910B1"}, False),
        ({**FOR_ALL, **KEEP, "soc_version": "Ascend910A"}, False),
    ],
)
def test_it_is_found_where_it_is_selected(
    settings: dict[str, Any], *, is_found: bool
) -> None:
    expected = [Linted("s", "sigmoid-high-performance", "precision")] if is_found else []

    assert linted(PROTO, **settings) == expected
