"""Even sizes: lrn_plugin.cc fails up to 6.0; lrn_onnx_plugin.cpp halves from 8.5 on.

onnxruntime refuses even sizes, so what ONNX says is transcribed here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from ascendflow.errors import StageError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import F32, model, node
from tests.windows import numbers

if TYPE_CHECKING:
    import onnx

SHAPE = (7, 7, 3, 4)
"""As many channels as samples: onnx's reference counts channels by the batch."""


def lrn(size: int, opset: int = 13) -> onnx.ModelProto:
    made = node("LRN", ["x"], ["y"], name="lrn", size=size, alpha=0.5, beta=0.6, bias=2.0)
    return model([made], [("x", SHAPE)], [("y", SHAPE)], opset=opset)


def normalised(x: np.ndarray, down: int, up: int, size: int) -> np.ndarray:
    """Divide by (bias + alpha / size * squares of channels c-down to c+up) ** beta."""
    y = np.zeros_like(x)
    for c in range(x.shape[1]):
        near = x[:, max(0, c - down) : c + up + 1].astype(np.float64)
        y[:, c] = x[:, c] / (2.0 + 0.5 / size * (near**2).sum(1)) ** 0.6
    return y.astype(F32)


@pytest.mark.parametrize("size", [2, 4, 6])
@pytest.mark.parametrize("version", ["8.5", "9.1"])
def test_the_window_is_one_channel_short(size: int, version: str) -> None:
    x = numbers(*SHAPE)
    radius = (size - 1) // 2

    y = emulate(lrn(size), {"x": x}, **FP32, cann=version)["y"]

    np.testing.assert_allclose(y, normalised(x, radius, radius, size), rtol=1e-6)
    onnx_says = normalised(x, radius, radius + 1, size)
    assert np.abs(y - onnx_says).max() > 0.05
    assert linted(lrn(size), cann=version) == [("lrn", "lrn-even", "silent")]


@pytest.mark.parametrize("version", ["5.1", "6.0", "8.1"])
def test_it_is_refused_before(version: str) -> None:
    assert linted(lrn(4), cann=version) == [("lrn", "lrn-even", "rejected")]
    with pytest.raises(StageError, match=r"'lrn' .*its size is 4, which must be odd"):
        emulate(lrn(4), {}, cann=version)


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_a_size_of_0_is_refused_by_every_version(version: str) -> None:
    assert linted(lrn(0), cann=version) == [("lrn", "lrn-even", "rejected")]
    with pytest.raises(StageError, match=r"'lrn' .*its size is 0"):
        emulate(lrn(0), {}, cann=version)


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
@pytest.mark.parametrize("size", [1, 5])
def test_lint_is_silent_about_odd_sizes(version: str, size: int) -> None:
    assert linted(lrn(size), cann=version) == []


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
@pytest.mark.parametrize("size", [2, 4, 6])
def test_writing_it_out_cures_it(version: str, size: int) -> None:
    x = numbers(*SHAPE)
    edited = cured(lrn(size), "lrn-even-size")

    y = emulate(edited, {"x": x}, **FP32, cann=version)["y"]

    expected = normalised(x, (size - 1) // 2, size // 2, size)
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-7)
    (reference,) = ReferenceEvaluator(lrn(size)).run(None, {"x": x})
    np.testing.assert_allclose(y, np.asarray(reference), rtol=1e-6, atol=1e-7)
