"""LpPool; lppool_plugin.cc makes Power, AvgPoolV2 without exclusive, Muls, Power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import run
from tests.windows import numbers, pool, windows

PAIR: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}
CUBE: dict[str, Any] = {"kernel_shape": [2] * 3, "strides": [2] * 3}
BIG: dict[str, Any] = {"kernel_shape": [16] * 2, "strides": [8] * 2}

CEIL_MODE, AUTO_PAD = "lppool-ceil-mode", "lppool-auto-pad"


def cann(x: np.ndarray, kernel: list[int], strides: list[int], p: int) -> np.ndarray:
    """(elements * mean(|x| ** p)) ** (1 / p), where nothing is padded."""
    powers = np.abs(windows(x, kernel, strides, fill=0)) ** p
    return np.asarray((powers.shape[-1] * powers.mean(-1)) ** (1 / p))


@pytest.mark.parametrize(
    ("shape", "kind", "elsewhere", "name"),
    [
        pytest.param(
            (1, 2, 5, 7), PAIR | {"ceil_mode": 1}, (1, 2, 3, 4), CEIL_MODE, id="ceil"
        ),
        pytest.param(
            (1, 2, 5, 7),
            PAIR | {"dilations": [2, 2]},
            (1, 2, 2, 3),
            "lppool-dilation",
            id="gaps",
        ),
        pytest.param(
            (1, 2, 5, 5, 5),
            CUBE | {"auto_pad": "SAME_UPPER"},
            (1, 2, 3, 3, 3),
            AUTO_PAD,
            id="3-d",
        ),
        pytest.param(
            (1, 2, 30, 30),
            BIG | {"auto_pad": "SAME_LOWER"},
            (1, 2, 4, 4),
            AUTO_PAD,
            id="big",
        ),
    ],
)
@pytest.mark.parametrize(("p", "version"), [(2, "8.1"), (2, "9.1"), (3, "9.1")])
def test_what_is_not_read_is_dropped(
    shape: tuple[int, ...],
    kind: dict[str, Any],
    elsewhere: tuple[int, ...],
    name: str,
    *,
    p: int,
    version: str,
) -> None:
    x = numbers(*shape)
    proto = pool("LpPool", shape, 18, **kind, p=p)

    y = emulate(proto, {"x": x}, **FP32, cann=version)["y"]

    # roots of sums in another order
    expected = cann(x, kind["kernel_shape"], kind["strides"], p)
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    there = run(proto, {"x": x})["y"]
    assert there.shape == elsewhere
    assert there.shape != y.shape or np.abs(there - y).max() > 0.1
    found = linted(proto, cann=version)
    assert found == [("pool", name, "silent")]


@pytest.mark.parametrize("version", ["6.0", "8.1"])
@pytest.mark.parametrize("p", [1, 3])
def test_roots_of_what_is_below_zero_are_not_modelled(version: str, p: int) -> None:
    proto = pool("LpPool", [1, 2, 4, 6], 13, **PAIR, p=p)

    assert linted(proto, cann=version) == [("pool", "lppool-odd-p", "unknown")]
    with pytest.raises(NotModelledError, match=rf"'pool' .*p is {p}"):
        emulate(proto, {}, cann=version)


@pytest.mark.parametrize(("p", "version"), [(2, "6.0"), (4, "8.1"), (1, "8.5"), (3, "9.1")])
def test_lint_is_silent_where_no_sign_is_kept(p: int, version: str) -> None:
    assert linted(pool("LpPool", [1, 2, 4, 6], 13, **PAIR, p=p), cann=version) == []


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        pytest.param([1, 2, 5, 7], PAIR, id="plain"),
        pytest.param([1, 2, 4, 6], PAIR | {"ceil_mode": 1}, id="ceil-changes-nothing"),
        pytest.param([1, 2, 5, 7], PAIR | {"dilations": [1, 1]}, id="no-gaps"),
        pytest.param([1, 2, 5, 7], PAIR | {"auto_pad": "SAME_UPPER"}, id="same-upper"),
        pytest.param(
            [1, 2, 4, 4, 4],
            CUBE | {"auto_pad": "SAME_UPPER"},
            id="3-d-nothing-to-pad",
        ),
    ],
)
def test_lint_is_silent_where_nothing_changes(
    shape: list[int], kind: dict[str, Any]
) -> None:
    assert linted(pool("LpPool", shape, 18, **kind)) == []


def test_explicit_pads_cure_ceil_mode() -> None:
    x = numbers(1, 2, 5, 7)
    proto = pool("LpPool", x.shape, 18, **PAIR, ceil_mode=1)

    y = emulate(cured(proto, "ceil-mode-to-pads"), {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        pytest.param((1, 2, 5, 5, 5), CUBE, id="3-d"),
        pytest.param((1, 2, 30, 30), BIG, id="big"),
    ],
)
def test_explicit_pads_cure_auto_pad(
    shape: tuple[int, ...], kind: dict[str, Any], auto_pad: str
) -> None:
    x = numbers(*shape)
    proto = pool("LpPool", shape, 18, **kind, auto_pad=auto_pad)
    edited = cured(proto, "auto-pad-to-pads")

    assert linted(edited) == []
    y = emulate(edited, {"x": x}, **FP32)["y"]
    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])
