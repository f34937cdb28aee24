"""auto_pad of volumes; average_pool_plugin.cc makes AvgPool3D of `pads` only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulation import FP32, cured, emulate, linted
from tests.models import run
from tests.windows import numbers, pool, windows

SHAPE = (1, 2, 5, 6, 7)
CUBE: dict[str, Any] = {"kernel_shape": [3, 3, 3], "strides": [2, 2, 2]}


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("version", "opset"), [("6.0", 13), ("8.1", 17), ("9.1", 17)])
def test_nothing_is_padded(auto_pad: str, version: str, opset: int) -> None:
    x = numbers(*SHAPE)
    proto = pool("AveragePool", SHAPE, opset, **CUBE, auto_pad=auto_pad)

    y = emulate(proto, {"x": x}, **FP32, cann=version)["y"]

    # sums of 27 numbers in another order
    expected = windows(x, [3, 3, 3], [2, 2, 2], fill=0).mean(-1)
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-6)
    assert y.shape == (1, 2, 2, 2, 3)
    assert run(proto, {"x": x})["y"].shape == (1, 2, 3, 3, 4)


@pytest.mark.parametrize("shape", [SHAPE, (1, 2, "d", 6, 7)])
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_lint_names_it(shape: tuple[int | str, ...], auto_pad: str) -> None:
    found = linted(pool("AveragePool", shape, **CUBE, auto_pad=auto_pad))

    assert found == [("pool", "avgpool3d-auto-pad", "silent")]


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        pytest.param(SHAPE, {"auto_pad": "VALID"}, id="valid"),
        pytest.param(SHAPE, {"pads": [1] * 6}, id="pads"),
        pytest.param(
            (1, 2, 4, 6, 8),
            {"auto_pad": "SAME_UPPER", "kernel_shape": [2, 2, 2]},
            id="nothing-to-pad",
        ),
        pytest.param(
            (1, 2, 5, 6),
            {"auto_pad": "SAME_UPPER", "kernel_shape": [3, 3], "strides": [2, 2]},
            id="picture",
        ),
    ],
)
def test_lint_is_silent_elsewhere(shape: tuple[int, ...], kind: dict[str, Any]) -> None:
    assert linted(pool("AveragePool", shape, **CUBE | kind)) == []


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("counted", [0, 1])
def test_explicit_pads_cure_it(auto_pad: str, counted: int) -> None:
    x = numbers(*SHAPE)
    proto = pool("AveragePool", SHAPE, **CUBE, auto_pad=auto_pad, count_include_pad=counted)

    y = emulate(cured(proto, "auto-pad-to-pads"), {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])
