"""The path for big windows; max_pool_plugin.cc, GenAicpuOp."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulation import FP32, cured, emulate, linted
from tests.models import F32, run
from tests.windows import numbers, pool, windows

BIG: dict[str, Any] = {"kernel_shape": [16, 16], "strides": [8, 8]}


def cann(x: np.ndarray, pads: list[int]) -> np.ndarray:
    """PadV2 with -65504, MaxPool VALID."""
    return np.asarray(windows(x, [16, 16], [8, 8], pads, fill=-65504).max(-1))


@pytest.mark.parametrize(("version", "opset"), [("6.0", 13), ("8.1", 17), ("9.1", 17)])
def test_ceil_mode_is_lost(version: str, opset: int) -> None:
    x = numbers(1, 2, 30, 37)
    proto = pool("MaxPool", x.shape, opset, **BIG, ceil_mode=1, pads=[1, 2, 3, 4])

    y = emulate(proto, {"x": x}, **FP32, cann=version)["y"]

    np.testing.assert_array_equal(y, cann(x, [1, 2, 3, 4]))
    assert y.shape == (1, 2, 3, 4)
    assert run(proto, {"x": x})["y"].shape == (1, 2, 4, 5)


def test_auto_pad_is_lost() -> None:
    x = numbers(1, 2, 32, 32)
    proto = pool("MaxPool", x.shape, **BIG, auto_pad="SAME_UPPER")

    y = emulate(proto, {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, cann(x, [0, 0, 0, 0]))
    assert y.shape == (1, 2, 3, 3)
    assert run(proto, {"x": x})["y"].shape == (1, 2, 4, 4)


def test_what_is_below_the_padding_loses_in_fp32() -> None:
    x = np.full((1, 1, 20, 20), -1e6, F32)
    proto = pool("MaxPool", x.shape, **BIG, pads=[4, 4, 4, 4])

    y = emulate(proto, {"x": x}, **FP32)["y"]

    assert y.ravel().tolist() == [-65504] * 3 + [-1e6]
    np.testing.assert_array_equal(y, cann(x, [4, 4, 4, 4]))
    assert (run(proto, {"x": x})["y"] == -1e6).all()
    assert linted(proto, **FP32) == [("pool", "maxpool-big-window", "precision")]
    assert linted(proto) == []  # in fp16 nothing is below


def test_a_big_stride_does_as_a_big_window() -> None:
    x = numbers(1, 1, 70, 130)
    proto = pool("MaxPool", x.shape, kernel_shape=[3, 3], strides=[64, 64], ceil_mode=1)

    y = emulate(proto, {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, windows(x, [3, 3], [64, 64], fill=0).max(-1))
    assert y.shape == (1, 1, 2, 2)
    assert run(proto, {"x": x})["y"].shape == (1, 1, 2, 3)


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        pytest.param([1, 2, 30, 37], BIG | {"ceil_mode": 1}, id="ceil"),
        pytest.param([1, 2, "h", 37], BIG | {"ceil_mode": 1}, id="ceil-dynamic"),
        pytest.param([1, 2, 32, 32], BIG | {"auto_pad": "SAME_LOWER"}, id="same"),
        pytest.param(
            [1, 2, 700],
            {"kernel_shape": [256], "strides": [256], "ceil_mode": 1},
            id="1-d",
        ),
    ],
)
def test_lint_names_it(shape: list[int | str], attributes: dict[str, Any]) -> None:
    found = linted(pool("MaxPool", shape, **attributes))

    assert found == [("pool", "maxpool-big-window", "silent")]


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        pytest.param([1, 2, 32, 40], BIG | {"ceil_mode": 1}, id="ceil-changes-nothing"),
        pytest.param([1, 2, 30, 37], BIG, id="floor"),
        pytest.param([1, 2, 30, 37], BIG | {"pads": [1, 1, 1, 1]}, id="pads-in-fp16"),
        pytest.param(
            [1, 2, 30, 37],
            {"kernel_shape": [15, 17], "strides": [8, 8], "ceil_mode": 1},
            id="255-elements",
        ),
        pytest.param(
            [1, 1, 128, 128],
            {"kernel_shape": [3, 3], "strides": [63, 63], "ceil_mode": 1},
            id="stride-63",
        ),
        pytest.param(
            [1, 2, 9, 18, 9],
            {"kernel_shape": [8, 8, 8], "strides": [4, 4, 4], "ceil_mode": 1},
            id="3-d",
        ),
    ],
)
def test_lint_is_silent_where_nothing_is_lost(
    shape: list[int], attributes: dict[str, Any]
) -> None:
    assert linted(pool("MaxPool", shape, **attributes)) == []


@pytest.mark.parametrize("kind", [{"ceil_mode": 1}, {"auto_pad": "SAME_UPPER"}])
def test_pools_of_one_axis_each_cure_it(kind: dict[str, Any]) -> None:
    x = numbers(1, 2, 30, 37)
    proto = pool("MaxPool", x.shape, **BIG, **kind)
    edited = cured(proto, "split-big-maxpool")

    np.testing.assert_array_equal(
        emulate(edited, {"x": x}, **FP32)["y"], run(proto, {"x": x})["y"]
    )
    assert linted(edited) == []
