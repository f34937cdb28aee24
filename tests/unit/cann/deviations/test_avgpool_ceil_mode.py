"""ceil_mode of AvgPoolV2: nn_pooling_ops.cc counts windows, avg_pool_v2.py divides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, SATURATING, cured, emulate, linted
from tests.models import F32, run
from tests.windows import pool

PAST: dict[str, Any] = {
    "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1,
    "count_include_pad": 1,
}  # fmt: skip
BEGINS_PAST: dict[str, Any] = {
    "kernel_shape": [3, 3], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1,
}  # fmt: skip


def cann(x: np.ndarray, k: int, stride: int, pad: int, *, counted: bool) -> np.ndarray:
    """The kernel on one square map: outputs by ceil, sums, then fp16 quotients."""
    n = x.shape[2]
    out = (n - k + 2 * pad + stride - 1) // stride + 1
    y = np.zeros((1, 1, out, out))
    for i, j in np.ndindex(out, out):
        rows = range(max(i * stride - pad, 0), min(i * stride - pad + k, n))
        columns = range(max(j * stride - pad, 0), min(j * stride - pad + k, n))
        total = sum(float(x[0, 0, r, c]) for r in rows for c in columns)
        y[0, 0, i, j] = total / (k * k if counted else max(len(rows) * len(columns), 1))
    return y.astype(np.float16).astype(F32)


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_the_last_windows_are_divided_by_all_they_span(version: str) -> None:
    x = np.arange(1, 17, dtype=F32).reshape(1, 1, 4, 4)
    proto = pool("AveragePool", x.shape, 13, **PAST)

    y = emulate(proto, {"x": x}, soc_version=SATURATING, cann=version)["y"]

    np.testing.assert_array_equal(y, cann(x, 3, 2, 1, counted=True))
    there = run(proto, {"x": x})["y"]
    assert there[0, 0, 2, 2] == 4  # 16 / 4
    assert np.abs(y - there).max() > 2  # 16 / 9
    found = linted(proto, cann=version)
    assert found == [("pool", "avgpool-ceil-mode", "silent")]


@pytest.mark.parametrize("shape", [[1, 1, 4, 5], [1, 1, 5, 4]])
def test_one_axis_that_reaches_past_its_pads_is_enough(shape: list[int]) -> None:
    """The last window along it spans a row of numbers, a row of padding, and nothing."""
    x = np.ones(shape, F32)
    proto = pool("AveragePool", shape, 13, **PAST)

    y = emulate(proto, {"x": x}, soc_version=SATURATING)["y"]

    last = y[0, 0, 2, 1] if shape[2] == 4 else y[0, 0, 1, 2]
    assert last == np.float16(3 / 9)  # of nine places
    assert linted(proto) == [("pool", "avgpool-ceil-mode", "silent")]


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_a_window_that_begins_in_the_padding_is_one_more_output(version: str) -> None:
    x = np.array([[[[1, 2], [3, 5]]]], F32)
    proto = pool("AveragePool", x.shape, 13, **BEGINS_PAST)

    y = emulate(proto, {"x": x}, cann=version)["y"]

    np.testing.assert_array_equal(y, cann(x, 3, 3, 1, counted=False))
    assert y.ravel().tolist() == [2.75, 0, 0, 0]
    assert run(proto, {"x": x})["y"].ravel().tolist() == [2.75]
    found = linted(proto, cann=version)
    assert found == [("pool", "avgpool-ceil-mode", "silent")]


@pytest.mark.parametrize("kind", [PAST, BEGINS_PAST])
@pytest.mark.parametrize(
    ("shape", "config"),
    [
        pytest.param([1, 1, 4, 4], {"precision_mode": "must_keep_origin_dtype"}, id="fp32"),
        pytest.param([1, 1, "h", 4], {}, id="dynamic"),
    ],
)
def test_what_was_not_read_is_not_modelled(
    kind: dict[str, Any], shape: list[int | str], config: dict[str, str]
) -> None:
    lengths = [1, 1, 2, 2] if kind is BEGINS_PAST and config else shape
    proto = pool("AveragePool", lengths, **kind)

    assert linted(proto, **config) == [("pool", "avgpool-ceil-mode", "unknown")]
    with pytest.raises(NotModelledError, match=r"'pool' .*(ceil_mode|divisors)"):
        emulate(proto, {}, **config)


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        pytest.param([1, 1, 4, 4], PAST | {"count_include_pad": 0}, id="not-counted"),
        pytest.param([1, 1, "h", 4], PAST | {"count_include_pad": 0}, id="dynamic"),
        pytest.param([1, 1, 5, 5], PAST, id="nothing-past-the-pads"),
        pytest.param([1, 1, 4, 4], PAST | {"ceil_mode": 0}, id="floor"),
        pytest.param([1, 1, 7, 7], BEGINS_PAST, id="begins-inside"),
        pytest.param(
            [1, 1, 4, 4, 4],
            {"kernel_shape": [3] * 3, "strides": [2] * 3, "ceil_mode": 1},
            id="3-d",
        ),
    ],
)
def test_lint_is_silent_where_nothing_changes(
    shape: list[int | str], kind: dict[str, Any]
) -> None:
    assert linted(pool("AveragePool", shape, **kind)) == []


@pytest.mark.parametrize(("length", "kind"), [(4, PAST), (2, BEGINS_PAST)])
@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_explicit_pads_cure_it(length: int, kind: dict[str, Any], version: str) -> None:
    x = np.arange(1, length**2 + 1, dtype=F32).reshape(1, 1, length, length)
    proto = pool("AveragePool", x.shape, 13, **kind)

    y = emulate(cured(proto, "ceil-mode-to-pads"), {"x": x}, **FP32, cann=version)["y"]

    # sums in another order
    np.testing.assert_allclose(y, run(proto, {"x": x})["y"], rtol=3e-7)
