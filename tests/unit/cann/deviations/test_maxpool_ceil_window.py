"""A last window in the padding: nn_pooling_ops.cc counts it, max_pool.cc only at times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import run
from tests.windows import numbers, pool

BEGINS_PAST: dict[str, Any] = {
    "kernel_shape": [3, 3], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1,
}  # fmt: skip


@pytest.mark.parametrize("version", ["6.0", "8.1"])
@pytest.mark.parametrize("shape", [[1, 1, 2, 2], [1, 1, "h", 2]])
def test_its_outputs_are_not_modelled(version: str, shape: list[int | str]) -> None:
    proto = pool("MaxPool", shape, 13, **BEGINS_PAST)

    assert linted(proto, cann=version) == [("pool", "maxpool-ceil-window", "unknown")]
    with pytest.raises(NotModelledError, match=r"'pool' .*ceil_mode"):
        emulate(proto, {}, cann=version)


@pytest.mark.parametrize(
    ("shape", "kind", "version"),
    [
        pytest.param([1, 1, 2, 2], {}, "8.5", id="8.5"),
        pytest.param([1, 1, 7, 7], {}, "8.1", id="begins-inside"),
        pytest.param([1, 1, 2, 2], {"ceil_mode": 0}, "8.1", id="floor"),
        pytest.param([1, 1, "h", 9], {"strides": [2, 2]}, "8.1", id="short-stride"),
    ],
)
def test_lint_is_silent_elsewhere(
    shape: list[int | str], kind: dict[str, Any], version: str
) -> None:
    assert linted(pool("MaxPool", shape, **BEGINS_PAST | kind), cann=version) == []


@pytest.mark.parametrize(
    ("shape", "side"), [([1, 1, 2, 2, 2], 3), ([1, 1, 20, 20], 17)], ids=["3-d", "big"]
)
def test_windows_of_other_kernels_are_not_named(shape: list[int], side: int) -> None:
    """`maxpool-big-window` says what becomes of ceil_mode where a window is big."""
    rank = len(shape) - 2
    kind: dict[str, Any] = {"kernel_shape": [side] * rank, "strides": [side] * rank}
    proto = pool("MaxPool", shape, 13, **kind, pads=[1] * 2 * rank, ceil_mode=1)

    assert linted(proto, "maxpool-ceil-window", cann="8.1") == []


def test_from_8_5_on_cann_does_as_onnx() -> None:
    x = numbers(1, 1, 2, 2)
    proto = pool("MaxPool", x.shape, **BEGINS_PAST)

    y = emulate(proto, {"x": x}, **FP32, cann="8.5")["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])


def test_explicit_pads_cure_it() -> None:
    x = numbers(1, 1, 2, 2)
    proto = pool("MaxPool", x.shape, **BEGINS_PAST)

    y = emulate(cured(proto, "ceil-mode-to-pads"), {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])
