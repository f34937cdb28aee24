"""SAME_LOWER taken for SAME_UPPER; max_pool_plugin.cc, average_pool_plugin.cc."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulation import FP32, cured, emulate, linted
from tests.models import run
from tests.windows import numbers, pool, windows

LOWER: dict[str, Any] = {
    "auto_pad": "SAME_LOWER",
    "kernel_shape": [2, 3],
    "strides": [1, 2],
}
HERE = [0, 0, 1, 1]
"""H of 5, 1 more: behind. W of 6, stride 2, 1 more: behind. TensorFlow's SAME."""


def cann(op_type: str, x: np.ndarray) -> np.ndarray:
    if op_type == "MaxPool":
        return np.asarray(windows(x, [2, 3], [1, 2], HERE, fill=-np.inf).max(-1))
    if op_type == "AveragePool":
        return np.asarray(np.nanmean(windows(x, [2, 3], [1, 2], HERE, fill=np.nan), -1))
    squares = windows(x, [2, 3], [1, 2], HERE, fill=0) ** 2
    return np.asarray(np.sqrt(squares.sum(-1)))


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(("version", "opset"), [("6.0", 13), ("8.1", 17), ("9.1", 17)])
def test_the_odd_element_of_padding_is_behind(
    op_type: str, version: str, opset: int
) -> None:
    x = numbers(1, 2, 5, 6)
    proto = pool(op_type, x.shape, opset, **LOWER)

    y = emulate(proto, {"x": x}, **FP32, cann=version)["y"]

    # sums of six numbers in another order
    np.testing.assert_allclose(y, cann(op_type, x), rtol=1e-6, atol=1e-6)
    assert np.abs(y - run(proto, {"x": x})["y"]).max() > 0.5


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool", "LpPool"])
def test_lint_names_it(op_type: str) -> None:
    found = linted(pool(op_type, [1, 2, 5, 6], **LOWER))

    assert found == [("pool", "pool-same-lower", "silent")]


@pytest.mark.parametrize(
    ("op_type", "shape", "cann", "is_named"),
    [
        pytest.param("MaxPool", [1, 2, 5, 5, 5], "8.1", True, id="3-d-max"),
        pytest.param("AveragePool", [1, 2, 5, 5, 5], "8.1", False, id="3-d-average"),
        pytest.param("LpPool", [1, 2, 5, 5, 5], "8.1", False, id="3-d-powers"),
        pytest.param("MaxPool", [1, 2, 30, 37], "8.1", False, id="big-max"),
        pytest.param("AveragePool", [1, 2, 30, 37], "6.0", False, id="big-average"),
        pytest.param("AveragePool", [1, 2, 30, 37], "8.1", True, id="big-average-later"),
    ],
)
def test_where_auto_pad_is_lost_another_name_says_so(
    op_type: str, shape: list[int], cann: str, *, is_named: bool
) -> None:
    length = 2 if len(shape) == 5 else 16
    kind: dict[str, Any] = {"kernel_shape": [length] * (len(shape) - 2)}
    proto = pool(op_type, shape, 13, auto_pad="SAME_LOWER", **kind)

    assert bool(linted(proto, "pool-same-lower", cann=cann)) == is_named
    assert linted(proto, cann=cann) != []


def test_lint_names_what_it_cannot_rule_out() -> None:
    found = linted(pool("MaxPool", [1, 2, "h", 6], **LOWER))

    assert found == [("pool", "pool-same-lower", "silent")]


@pytest.mark.parametrize(
    ("op_type", "shape", "attributes"),
    [
        pytest.param("MaxPool", [1, 2, 5, 6], {"auto_pad": "SAME_UPPER"}, id="upper"),
        pytest.param("MaxPool", [1, 2, 5, 6], {"kernel_shape": [3, 3]}, id="even"),
        pytest.param("MaxPool", [1, 2, 5, 5], {"strides": [2, 2]}, id="as-it-happens"),
        pytest.param("MaxPool", [1, 2, 5, 6], {"auto_pad": "VALID"}, id="valid"),
    ],
)
def test_lint_is_silent_where_nothing_changes(
    op_type: str, shape: list[int], attributes: dict[str, Any]
) -> None:
    kernel: dict[str, Any] = {
        "kernel_shape": [3, 3],
        "strides": [1, 1],
        "auto_pad": "SAME_LOWER",
    }

    assert linted(pool(op_type, shape, **kernel | attributes)) == []


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool", "LpPool"])
def test_explicit_pads_cure_it(op_type: str) -> None:
    x = numbers(1, 2, 5, 6)
    proto = pool(op_type, x.shape, **LOWER)

    y = emulate(cured(proto, "auto-pad-to-pads"), {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])


@pytest.mark.parametrize(("kernel", "is_named"), [(2, True), (3, False)])
def test_a_stride_of_one_is_judged_at_any_length(kernel: int, is_named: bool) -> None:
    kind: dict[str, Any] = {"auto_pad": "SAME_LOWER", "kernel_shape": [kernel, 3]}
    proto = pool("MaxPool", [1, 2, "h", 6], **kind)

    assert bool(linted(proto, "pool-same-lower")) is is_named
