"""Sums stored before they are divided; avg_pool_v2_fusion_pass.cc, avg_pool_v2.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulation import FP32, IEEE, SATURATING, emulate, linted
from tests.halves import half
from tests.models import F32, model, node, run
from tests.windows import numbers, pool, windows

NAME = "avgpool-sum-fp16"
THREE: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2]}


def kernel(x: np.ndarray, pads: list[int], *, limit: float, shares: bool) -> np.ndarray:
    """A sum beyond fp16 is the limit, over the area, or times fp16(1 / area)."""
    total = windows(x, [3, 3], [2, 2], pads, fill=0).astype(np.float64).sum(-1)
    area = windows(np.ones_like(x), [3, 3], [2, 2], pads, fill=0).sum(-1)
    lost = np.sign(total) * limit * (half(1 / area) if shares else 1 / area)
    return half(np.where(np.abs(total) >= 65520, lost, total / area))


@pytest.mark.parametrize("large", [0, 16000])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 1, 1]])
@pytest.mark.parametrize(
    ("soc_version", "cann", "shares"),
    [
        (SATURATING, "8.1", False),
        (IEEE, "9.1", False),
        ("Ascend310", "8.1", True),
        (SATURATING, "6.0", True),
    ],
)
def test_the_sum_is_stored_first(
    soc_version: str, cann: str, pads: list[int], large: float, *, shares: bool
) -> None:
    x = numbers(1, 2, 9, 7)
    x[0, 0, 2:] = large or x[0, 0, 2:]
    proto = pool("AveragePool", x.shape, 13, **THREE, pads=pads)

    y = emulate(proto, {"x": x}, soc_version=soc_version, cann=cann)["y"]

    limit = np.inf if soc_version == IEEE else 65504
    np.testing.assert_array_equal(y, kernel(x, pads, limit=limit, shares=shares))
    right = run(proto, {"x": x})["y"]
    if not large:
        np.testing.assert_allclose(y, right, rtol=2e-3, atol=1e-3)
    else:
        assert right.max() == 16000
        assert not np.abs(y - right).max() < 8000  # 65504 / 9 is 7278


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        pytest.param({"count_include_pad": 1, "pads": [1] * 4}, {}, id="padding-counts"),
        pytest.param({"auto_pad": "VALID"}, {}, id="valid"),
        pytest.param({"pads": [1] * 4}, FP32, id="fp32-on-ai-cpu"),
    ],
)
def test_elsewhere_no_sum_is_stored(kind: dict[str, Any], config: dict[str, Any]) -> None:
    x = np.full((1, 1, 9, 7), 9000, F32)
    proto = pool("AveragePool", x.shape, 13, **THREE, **kind)

    y = emulate(proto, {"x": x}, **config)["y"]

    # fp32 sums of nine equal numbers, rounded once to fp16, whose unit is 8 there
    np.testing.assert_allclose(y, run(proto, {"x": x})["y"], rtol=2**-11)


def clipped(highest: float) -> Any:
    nodes = [
        node("Clip", ["x", "low", "high"], ["c"]),
        node("AveragePool", ["c"], ["y"], name="pool", **THREE),
    ]
    bounds = {"low": np.array(0, F32), "high": np.array(highest, F32)}
    return model(nodes, [("x", [1, 1, 9, 7])], [("y", [1, 1, 4, 3])], bounds)


def test_lint_names_it_where_the_bound_of_its_input_is_known() -> None:
    assert linted(clipped(7300)) == [("pool", NAME, "precision")]  # 65700
    assert linted(clipped(7200)) == []  # 64800
    assert linted(clipped(7300), **FP32) == []
    assert linted(pool("AveragePool", [1, 1, 9, 7], **THREE)) == []
