"""Nearest: `resize-nearest-tie` and `resize-nearest-attr`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulation import FP32, cured, emulate, linted
from tests.models import F32, model, node, resize, run
from tests.resize_kernels import nearest, picture

Kind = dict[str, Any]
TIE, ATTRIBUTE, CURE = "resize-nearest-tie", "resize-nearest-attr", "resize-nearest-gather"
PLAIN: Kind = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def picked(shape: tuple[int, ...], sizes: tuple[int, int], **kind: Any) -> Any:
    return resize(shape, sizes=[*shape[:2], *sizes], mode="nearest", **kind)


def equal(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean(a == b))


@pytest.mark.parametrize(
    ("cann", "lengths_in", "lengths_out"),
    [
        pytest.param("8.1", (9, 12), (3, 4), id="8.1-third"),
        pytest.param("8.1", (8, 10), (5, 4), id="8.1-odd"),
        pytest.param("9.1", (8, 12), (4, 6), id="9.1-half"),
        pytest.param("9.1", (4, 6), (6, 9), id="9.1-1.5x"),
    ],
)
def test_half_pixel_takes_other_elements_by_version_and_the_rule_cures_it(
    cann: str, lengths_in: tuple[int, int], lengths_out: tuple[int, int]
) -> None:
    x = picture(*lengths_in)
    proto, config = picked(x.shape, lengths_out), {**FP32, "cann": cann}
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **config)["y"]
    healed = emulate(cured(proto, CURE), {"x": x}, **config)["y"]

    # From 8.5 on half_pixel sets the same flag as pytorch_half_pixel does.
    flag = "asymmetric" if cann == "8.1" else "pytorch_half_pixel"
    expected = nearest(x, *lengths_out, flag, half_away=True)
    np.testing.assert_array_equal(y, expected)
    assert equal(y, golden) < 0.7
    assert linted(proto, **config) == [("resize", TIE, "silent")]
    np.testing.assert_array_equal(healed, golden)


def test_where_no_rounding_gives_those_elements_the_mode_is_to_blame() -> None:
    """0, 1, 3, 4, 6 of 8: half_pixel gives 5 for the fourth, or 6, however it rounds."""
    x = np.arange(8, dtype=F32).reshape(1, 1, 8, 1)
    proto = picked(x.shape, (5, 1), nearest_mode="floor")

    y = emulate(proto, {"x": x}, **FP32)["y"]

    assert y.ravel().tolist() == [0, 1, 3, 4, 6]
    assert run(proto, {"x": x})["y"].ravel().tolist() == [0, 1, 3, 5, 6]
    assert linted(proto, **FP32) == [("resize", TIE, "silent")]


@pytest.mark.parametrize("mode", ["half_pixel", "pytorch_half_pixel", "asymmetric"])
@pytest.mark.parametrize("cann", ["6.0", "8.1", "8.5", "9.1"])
def test_an_integer_factor_upwards_is_harmless_everywhere(cann: str, mode: str) -> None:
    nearest_mode = "floor" if mode == "asymmetric" else "round_prefer_floor"
    kind: Kind = {"coordinate_transformation_mode": mode, "nearest_mode": nearest_mode}
    proto = picked((1, 2, 4, 6), (8, 18), opset=15, **kind)

    assert linted(proto, **{**FP32, "cann": cann}) == []


def test_the_twin_of_each_version_is_harmless() -> None:
    """Halving is right by floor(i * s), thirds by floor((i + 0.5) * s)."""
    half, third = picked((1, 2, 8, 12), (4, 6)), picked((1, 2, 9, 12), (3, 4))

    assert linted(half, **FP32) == []
    assert linted(third, **{**FP32, "cann": "9.1"}) == []


@pytest.mark.parametrize("cann", ["8.1", "9.1"])
@pytest.mark.parametrize("nearest_mode", ["ceil", "round_prefer_ceil"])
def test_nearest_mode_is_not_read_and_the_rule_cures_it(
    cann: str, nearest_mode: str
) -> None:
    x, config = picture(4, 6), {**FP32, "cann": cann}
    kind: Kind = {**PLAIN, "nearest_mode": nearest_mode}
    proto = picked(x.shape, (8, 12), **kind)
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **config)["y"]

    np.testing.assert_array_equal(y, nearest(x, 8, 12, "asymmetric", half_away=True))
    assert equal(y, golden) < 0.5
    assert linted(proto, **config) == [("resize", ATTRIBUTE, "silent")]
    healed = emulate(cured(proto, CURE), {"x": x}, **config)["y"]
    np.testing.assert_array_equal(healed, golden)


def test_the_policy_is_not_read_and_the_output_has_another_shape() -> None:
    x = picture(4, 8)
    kind: Kind = {**PLAIN, "keep_aspect_ratio_policy": "not_smaller", "opset": 18}
    proto = picked(x.shape, (4, 4), **kind)
    golden = run(proto, {"x": x})["y"]

    assert golden.shape == (1, 2, 4, 8)
    assert emulate(proto, {"x": x}, **FP32)["y"].shape == (1, 2, 4, 4)
    assert linted(proto, **FP32) == [("resize", ATTRIBUTE, "silent")]
    healed = emulate(cured(proto, CURE), {"x": x}, **FP32)["y"]
    np.testing.assert_array_equal(healed, golden)


def test_the_region_of_interest_is_not_read_and_the_rule_cures_it() -> None:
    x = picture(4, 8)
    kind: Kind = {"mode": "nearest", "coordinate_transformation_mode": "tf_crop_and_resize"}
    nodes = [node("Resize", ["x", "roi", "", "sizes"], ["y"], **kind)]
    constants: dict[str, np.ndarray] = {
        "roi": np.array([0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75], F32),
        "sizes": np.array([1, 2, 3, 4], np.int64),
    }
    proto = model(nodes, [("x", x.shape)], [("y", [1, 2, 3, 4])], constants)
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, x[:, :, [0, 1, 2], ::2])
    assert equal(y, golden) < 0.7
    assert linted(proto, **FP32) == [("y", ATTRIBUTE, "silent")]
    healed = emulate(cured(proto, CURE), {"x": x}, **FP32)["y"]
    np.testing.assert_array_equal(healed, golden)


@pytest.mark.parametrize("cann", ["8.1", "9.1"])
def test_opset_10_sets_its_flags_but_onnxruntime_shortens_by_the_ceiling(cann: str) -> None:
    x, config = picture(5, 7), {**FP32, "cann": cann}
    shorter = resize(x.shape, scales=[1, 1, 0.6, 0.45], opset=10, mode="nearest")
    longer = resize(x.shape, scales=[1, 1, 2, 3], opset=10, mode="nearest")

    y = emulate(shorter, {"x": x}, **config)["y"]

    np.testing.assert_array_equal(y, nearest(x, 3, 3, "asymmetric", half_away=True))
    assert linted(shorter, **config) == [("resize", TIE, "silent")]
    assert linted(longer, **config) == []
    healed = emulate(cured(shorter, CURE), {"x": x}, **config)["y"]
    np.testing.assert_array_equal(healed, run(shorter, {"x": x})["y"])
