"""`upsample-ctm`, `upsample-nearest-ctm` and `resize-opset10-ctm`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann.resizing import AS_ASYMMETRIC, HONOURED
from ascendflow.errors import NotModelledError
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import F32, model, node, resize, run
from tests.resize_kernels import bilinear, nearest, picture

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

OPEN = {**FP32, "cann": "9.1"}
MODES = {AS_ASYMMETRIC: "asymmetric", HONOURED: "pytorch_half_pixel"}
"""What the operator's default does by either behaviour, by a mode that sets that flag."""


def upsample(shape: tuple[int, ...], up: list[float], mode: str) -> onnx.ModelProto:
    scales = {"s": np.array([1, 1, *up], F32)}
    nodes = [node("Upsample", ["x", "s"], ["y"], name="up", mode=mode)]
    return model(nodes, [("x", shape)], [("y", list("nchw"))], scales, opset=9)


def opset_10(shape: tuple[int, ...], up: list[float], mode: str) -> onnx.ModelProto:
    proto = resize(shape, scales=[1, 1, *up], opset=10, mode=mode)
    proto.graph.node[0].name = "up"
    return proto


def both(proto: onnx.ModelProto, x: np.ndarray, folder: Path) -> dict[str, Any]:
    convert(proto, folder, **OPEN)
    return {
        name: next(iter(Emulator().infer(each, [{"x": x}], threads=1)))["y"]
        for name, each in Emulator().behaviours(folder / "model").items()
    }


@pytest.mark.parametrize(
    ("make", "name"), [(upsample, "upsample-ctm"), (opset_10, "resize-opset10-ctm")]
)
def test_linear_is_right_up_to_8_4_and_unknown_from_8_5_on(
    make: Any, name: str, tmp_path: Path
) -> None:
    x = picture(4, 6)
    proto = make(x.shape, [2, 3], "linear")
    golden = run(proto, {"x": x})["y"]

    found = both(proto, x, tmp_path)

    assert linted(proto, **FP32) == []
    old = emulate(proto, {"x": x}, **FP32)["y"]
    np.testing.assert_allclose(old, golden, rtol=0, atol=3e-6)
    assert linted(proto, **OPEN) == [("up", name, "unknown")]
    right, wrong = (bilinear(x, 8, 18, m) for m in ("asymmetric", "pytorch_half_pixel"))
    np.testing.assert_allclose(found[AS_ASYMMETRIC], right, rtol=0, atol=3e-6)
    np.testing.assert_allclose(found[HONOURED], wrong, rtol=0, atol=3e-6)
    assert np.abs(right - wrong).max() > 0.2
    healed = emulate(cured(proto, "resize-to-matmul"), {"x": x}, **OPEN)["y"]
    np.testing.assert_allclose(healed, golden, rtol=0, atol=3e-6)


def test_upsample_nearest_is_unknown_only_by_a_fraction(tmp_path: Path) -> None:
    x = picture(4, 6)
    proto = upsample(x.shape, [1.5, 2.5], "nearest")

    found = both(proto, x, tmp_path)

    assert linted(proto, **OPEN) == [("up", "upsample-nearest-ctm", "unknown")]
    for behaviour, mode in MODES.items():
        expected = nearest(x, 6, 15, mode, half_away=True)
        np.testing.assert_array_equal(found[behaviour], expected)
    healed = emulate(cured(proto, "resize-nearest-gather"), {"x": x}, **OPEN)["y"]
    np.testing.assert_array_equal(healed, run(proto, {"x": x})["y"])


@pytest.mark.parametrize("cann", ["8.1", "9.1"])
@pytest.mark.parametrize("make", [upsample, opset_10])
def test_nearest_by_an_integer_is_harmless(make: Any, cann: str) -> None:
    x = picture(4, 6)
    proto = make(x.shape, [2, 3], "nearest")

    assert linted(proto, **{**FP32, "cann": cann}) == []
    y = emulate(proto, {"x": x}, **{**FP32, "cann": cann})["y"]
    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])


def test_all_that_hangs_on_half_pixel_is_switched_together(tmp_path: Path) -> None:
    """One pass decides about half_pixel, so it decides alike at every node."""
    x = picture(4, 6)
    up = {"s": np.array([1, 1, 2, 2], F32)}
    nodes = [
        node("Resize", ["x", "s"], ["a"], mode="linear"),
        node("Resize", ["a", "s"], ["y"], mode="linear"),
    ]
    proto = model(nodes, [("x", x.shape)], [("y", list("nchw"))], up, opset=10)

    found = both(proto, x, tmp_path)

    for behaviour, mode in MODES.items():
        expected = bilinear(bilinear(x, 8, 12, mode), 16, 24, mode)
        np.testing.assert_allclose(found[behaviour], expected, rtol=0, atol=6e-6)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_scales_of_no_whole_length_leave_no_candidate(mode: str, tmp_path: Path) -> None:
    """The parser of Upsample hands over the scales alone."""
    proto = upsample((1, 2, 5, 5), [1.5, 1.5], mode)

    assert "unknown" in {found.consequence for found in linted(proto, **OPEN)}
    with pytest.raises(NotModelledError, match="'up'"):
        convert(proto, tmp_path, **OPEN)
