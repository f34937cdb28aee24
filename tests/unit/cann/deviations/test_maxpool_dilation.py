"""Dilations that get dropped; max_pool_plugin.cc."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import run
from tests.windows import numbers, pool, windows

ATROUS: dict[str, Any] = {"kernel_shape": [3, 3], "dilations": [2, 2], "pads": [2, 2, 2, 2]}


@pytest.mark.parametrize(("version", "opset"), [("6.0", 13), ("8.1", 17), ("9.1", 17)])
def test_the_window_closes_up(version: str, opset: int) -> None:
    x = numbers(1, 2, 7, 8)
    proto = pool("MaxPool", x.shape, opset, **ATROUS)

    y = emulate(proto, {"x": x}, **FP32, cann=version)["y"]

    closed = windows(x, [3, 3], [1, 1], [2, 2, 2, 2], fill=-np.inf).max(-1)
    np.testing.assert_array_equal(y, closed)
    assert y.shape == (1, 2, 9, 10)  # two more than ONNX's
    assert run(proto, {"x": x})["y"].shape == (1, 2, 7, 8)


def test_where_the_shape_stays_the_values_do_not() -> None:
    x = numbers(1, 2, 9, 9)
    proto = pool("MaxPool", x.shape, kernel_shape=[2, 2], dilations=[2, 2], strides=[2, 2])

    y = emulate(proto, {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, windows(x, [2, 2], [2, 2], fill=-np.inf).max(-1))
    assert np.abs(y - run(proto, {"x": x})["y"]).max() > 0.5


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        pytest.param([1, 2, 7, 8], ATROUS, id="2-d"),
        pytest.param([1, 2, 9], {"kernel_shape": [3], "dilations": [2]}, id="1-d"),
        pytest.param(
            [1, 2, "h", 8], {"kernel_shape": [3, 1], "dilations": [2, 1]}, id="one-axis"
        ),
    ],
)
def test_lint_names_it(shape: list[int | str], attributes: dict[str, Any]) -> None:
    found = linted(pool("MaxPool", shape, **attributes))

    assert found == [("pool", "maxpool-dilation", "silent")]


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param({"kernel_shape": [3, 3]}, id="absent"),
        pytest.param({"kernel_shape": [3, 3], "dilations": [1, 1]}, id="ones"),
        pytest.param({"kernel_shape": [3, 1], "dilations": [1, 2]}, id="one-element"),
    ],
)
def test_lint_is_silent_about_windows_without_gaps(attributes: dict[str, Any]) -> None:
    assert linted(pool("MaxPool", [1, 2, 7, 8], **attributes)) == []


@pytest.mark.parametrize(
    ("shape", "attributes", "reason"),
    [
        pytest.param(
            [1, 2, 7, 7, 7],
            {"kernel_shape": [2, 2, 2], "dilations": [2, 2, 2]},
            "3-D kernel",
            id="3-d",
        ),
        pytest.param(
            [1, 2, 7, 8],
            {"kernel_shape": [2, 2], "dilations": [4, 4], "pads": [1, 1, 2, 2]},
            r"leaves pads \[1, 1, 2, 2\] around a window of \[2, 2\]",
            id="pads-as-long-as-the-window",
        ),
    ],
)
def test_what_was_not_read_is_not_modelled(
    shape: list[int], attributes: dict[str, Any], reason: str
) -> None:
    proto = pool("MaxPool", shape, **attributes)

    assert linted(proto) == [("pool", "maxpool-dilation", "unknown")]
    with pytest.raises(NotModelledError, match=f"'pool' .*{reason}"):
        emulate(proto, {})


@pytest.mark.parametrize("precision", ["force_fp16", "must_keep_origin_dtype"])
def test_slices_cure_it(precision: str) -> None:
    x = numbers(1, 2, 7, 8)
    proto = pool("MaxPool", x.shape, **ATROUS)
    config = FP32 | {"precision_mode": precision}

    y = emulate(cured(proto, "dilated-maxpool"), {"x": x}, **config)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])
