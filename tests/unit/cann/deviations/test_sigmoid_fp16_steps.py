"""Sigmoid of fp16 data against sigmoid_compute in numpy's float16."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulation import Linted, emulate, linted
from tests.halves import clipped_half, half
from tests.models import F32, model, node, run

NAME = "sigmoid-fp16-steps"
PROTO = model([node("Sigmoid", ["x"], ["y"], name="s")], [("x", [257])], [("y", [257])])
X = np.concatenate([np.linspace(-14, 14, 254), [300, -300, 65504]]).astype(F32)
KEEP = {"precision_mode": "must_keep_origin_dtype"}


def kernel(x: np.ndarray, lowest: float = -np.inf) -> np.ndarray:
    """exp, sum and quotient, each an fp16 number; beyond the range +-65504."""
    with np.errstate(over="ignore"):
        exp = clipped_half(np.exp(-np.maximum(half(x), half(np.array(lowest)))))
    return half(1 / clipped_half(exp + 1))


@pytest.mark.parametrize(
    ("soc_version", "lowest"),
    [("Ascend310", -np.inf), ("Ascend310B1", -np.inf), ("Ascend910A", -11.089)],
)
def test_every_step_is_fp16(soc_version: str, lowest: float) -> None:
    y = emulate(PROTO, {"x": X}, soc_version=soc_version)["y"]

    np.testing.assert_array_equal(y, kernel(X, lowest))
    once = half(run(PROTO, {"x": half(X)})["y"])
    assert (y != once).sum() > 40
    assert y.min() >= 1.5e-5 > once.min()  # 1 / 65504; one rounding leaves 8e-7
    assert linted(PROTO, soc_version=soc_version) == [Linted("s", NAME, "precision")]


def test_on_310_exp_alone_is_fp16_for_fp32_data() -> None:
    y = emulate(PROTO, {"x": X}, soc_version="Ascend310", **KEEP)["y"]

    with np.errstate(over="ignore"):
        exp = clipped_half(np.exp(-clipped_half(X)))
    np.testing.assert_allclose(y, 1 / (exp + 1), rtol=3e-7)
    assert linted(PROTO, soc_version="Ascend310", **KEEP)[0].deviation == NAME


@pytest.mark.parametrize(
    "config",
    [
        {"soc_version": "Ascend310P3"},
        {"soc_version": "Ascend910B1"},
        {"soc_version": "Ascend910A", **KEEP},
        {"soc_version": "Ascend310B1", **KEEP},
    ],
)
def test_lint_is_silent_where_steps_are_fp32(config: dict[str, Any]) -> None:
    assert linted(PROTO, **config) == []
