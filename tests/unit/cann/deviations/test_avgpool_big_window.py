"""The path for big windows up to 6.0; average_pool_plugin.cc, AvgGenAicpuOp."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import run
from tests.windows import numbers, pool, windows

BIG: dict[str, Any] = {"kernel_shape": [16, 16], "strides": [8, 8]}
OLD = FP32 | {"cann": "6.0"}
OPSET = 13


def cann(x: np.ndarray, pads: list[int]) -> np.ndarray:
    """PadV2 with 0, AvgPool VALID: every window is divided by 256."""
    return np.asarray(windows(x, [16, 16], [8, 8], pads, fill=0).mean(-1))


@pytest.mark.parametrize(
    ("kind", "pads", "by"),
    [
        pytest.param({"pads": [4, 4, 4, 4]}, [4, 4, 4, 4], 0.01, id="padding-counts"),
        pytest.param({"ceil_mode": 1}, [0, 0, 0, 0], None, id="ceil-mode"),
        pytest.param({"auto_pad": "SAME_UPPER"}, [0, 0, 0, 0], None, id="auto-pad"),
    ],
)
def test_it_is_padded_with_zeros_that_count(
    kind: dict[str, Any], pads: list[int], by: float | None
) -> None:
    x = numbers(1, 2, 30, 37)
    proto = pool("AveragePool", x.shape, OPSET, **BIG, **kind)

    y = emulate(proto, {"x": x}, **OLD)["y"]
    there = run(proto, {"x": x})["y"]

    # sums of 256 numbers in another order
    np.testing.assert_allclose(y, cann(x, pads), rtol=0, atol=1e-6)
    if by is None:
        assert y.shape != there.shape
    else:
        assert np.abs(y - there).max() > by


@pytest.mark.parametrize(
    "kind", [{"pads": [4, 4, 4, 4]}, {"ceil_mode": 1}, {"auto_pad": "SAME_LOWER"}]
)
def test_lint_names_it(kind: dict[str, Any]) -> None:
    found = linted(pool("AveragePool", [1, 2, 30, 37], OPSET, **BIG, **kind), cann="6.0")

    assert found == [("pool", "avgpool-big-window", "silent")]


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        pytest.param({}, [1, 2, 30, 37], id="plain"),
        pytest.param({"ceil_mode": 1}, [1, 2, 32, 40], id="ceil-changes-nothing"),
        pytest.param(
            {"pads": [4, 4, 4, 4], "count_include_pad": 1}, [1, 2, 30, 37], id="counted"
        ),
        pytest.param(
            {"pads": [4, 4, 4, 4], "kernel_shape": [15, 17]}, [1, 2, 30, 37], id="255"
        ),
    ],
)
def test_lint_is_silent_where_nothing_is_lost(
    kind: dict[str, Any], shape: list[int]
) -> None:
    proto = pool("AveragePool", shape, OPSET, **BIG | kind)
    x = numbers(*shape)

    assert linted(proto, cann="6.0") == []
    np.testing.assert_allclose(
        emulate(proto, {"x": x}, **OLD)["y"], run(proto, {"x": x})["y"], rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("version", ["6.1", "8.1", "9.1"])
def test_later_no_source_says_whether_they_are_lost(version: str) -> None:
    proto = pool("AveragePool", [1, 2, 30, 37], OPSET, **BIG, pads=[4, 4, 4, 4])

    assert linted(proto, cann=version) == [("pool", "avgpool-big-window", "unknown")]
    with pytest.raises(NotModelledError, match=r"'pool' .*\[16, 16\].*count_include_pad 0"):
        emulate(proto, {}, cann=version)


@pytest.mark.parametrize("version", ["6.1", "8.1", "9.1"])
def test_later_too_the_mean_is_the_mean_where_nothing_can_get_lost(version: str) -> None:
    x = numbers(1, 2, 30, 37)
    proto = pool("AveragePool", x.shape, OPSET, **BIG)

    y = emulate(proto, {"x": x}, **FP32, cann=version)["y"]

    assert linted(proto, cann=version) == []
    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])


@pytest.mark.parametrize("version", ["6.0", "8.1"])
@pytest.mark.parametrize(
    "kind",
    [
        {"pads": [4, 4, 4, 4]},
        {"pads": [4, 4, 4, 4], "count_include_pad": 1},
        {"ceil_mode": 1},
        {"auto_pad": "SAME_UPPER"},
    ],
)
def test_pools_of_one_axis_each_cure_it(version: str, kind: dict[str, Any]) -> None:
    x = numbers(1, 2, 30, 37)
    proto = pool("AveragePool", x.shape, OPSET, **BIG, **kind)

    y = emulate(cured(proto, "split-big-avgpool"), {"x": x}, **FP32, cann=version)["y"]

    # two divisions of sums of 16, where one of a sum of 256 was
    np.testing.assert_allclose(y, run(proto, {"x": x})["y"], rtol=0, atol=1e-6)
