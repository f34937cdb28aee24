"""`resize-ignored-attr` and `resize-own-scale`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import F32, model, node, resize, run
from tests.resize_kernels import bilinear, picture

if TYPE_CHECKING:
    import onnx

Kind = dict[str, Any]
NAME, SCALE, CURE = "resize-ignored-attr", "resize-own-scale", "resize-to-matmul"
PYTORCH: Kind = {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}


def cropped(shape: tuple[int, ...], roi: list[float]) -> onnx.ModelProto:
    kind: Kind = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
    nodes = [node("Resize", ["x", "roi", "", "sizes"], ["y"], name="resize", **kind)]
    constants: dict[str, np.ndarray] = {
        "roi": np.array([0, 0, *roi[:2], 1, 1, *roi[2:]], F32),
        "sizes": np.array([1, 2, 3, 5], np.int64),
    }
    return model(nodes, [("x", shape)], [("y", [1, 2, 3, 5])], constants)


@pytest.mark.parametrize("cann", ["8.1", "9.1"])
def test_antialias_is_dropped_and_the_rule_cures_it(cann: str) -> None:
    """RS06."""
    x, config = picture(16, 16, channels=1), {**FP32, "cann": cann}
    proto = resize(x.shape, sizes=[1, 1, 5, 5], antialias=1, opset=18, **PYTORCH)
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **config)["y"]
    healed = emulate(cured(proto, CURE), {"x": x}, **config)["y"]

    # a position near 15 is off by a millionth, and neighbours differ by up to four
    expected = bilinear(x, 5, 5, "pytorch_half_pixel")
    np.testing.assert_allclose(y, expected, rtol=0, atol=6e-6)
    assert np.abs(y - golden).max() > 0.5
    assert linted(proto, **config) == [("resize", NAME, "silent")]
    np.testing.assert_allclose(healed, golden, rtol=0, atol=3e-6)


def test_antialias_that_only_makes_longer_is_harmless() -> None:
    proto = resize((1, 2, 4, 6), sizes=[1, 2, 8, 9], antialias=1, opset=18, **PYTORCH)

    assert linted(proto, **FP32) == []


def test_one_axis_that_antialias_shortens_is_enough() -> None:
    shortened = resize((1, 2, 8, 6), sizes=[1, 2, 4, 9], antialias=1, opset=18, **PYTORCH)
    plain = resize((1, 2, 8, 6), sizes=[1, 2, 4, 9], antialias=0, opset=18, **PYTORCH)

    assert linted(shortened, **FP32) == [("resize", NAME, "silent")]
    assert linted(plain, **FP32) == []


FOR_NN: Kind = {
    "mode": "linear",
    "coordinate_transformation_mode": "tf_half_pixel_for_nn",
    "opset": 11,
}


def test_a_rare_mode_samples_asymmetrically_up_to_8_4() -> None:
    x = picture(4, 8)
    proto = resize(x.shape, sizes=[1, 2, 6, 8], **FOR_NN)
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **FP32)["y"]
    healed = emulate(cured(proto, CURE), {"x": x}, **FP32)["y"]

    np.testing.assert_allclose(y, bilinear(x, 6, 8, "asymmetric"), rtol=0, atol=3e-6)
    assert np.abs(y - golden).max() > 0.1
    assert linted(proto, **FP32) == [("resize", NAME, "silent")]
    np.testing.assert_allclose(healed, golden, rtol=0, atol=3e-6)
    assert linted(resize((1, 2, 1, 1), sizes=[1, 2, 6, 8], **FOR_NN), **FP32) == []


def test_antialias_of_half_pixel_is_two_faults_and_one_rule_cures_both() -> None:
    """RS06."""
    x = picture(16, 16, channels=1)
    proto = resize(x.shape, sizes=[1, 1, 5, 5], mode="linear", antialias=1, opset=18)
    names = [found.deviation for found in linted(proto, **FP32)]

    assert names == ["resize-half-pixel", NAME]
    healed = emulate(cured(proto, CURE), {"x": x}, **FP32)["y"]
    np.testing.assert_allclose(healed, run(proto, {"x": x})["y"], rtol=0, atol=3e-6)


def test_the_policy_is_dropped_so_the_output_has_another_shape() -> None:
    x = picture(4, 8)
    kind: Kind = {**PYTORCH, "keep_aspect_ratio_policy": "not_larger", "opset": 18}
    proto = resize(x.shape, sizes=[1, 2, 8, 8], **kind)

    assert run(proto, {"x": x})["y"].shape == (1, 2, 4, 8)
    assert emulate(proto, {"x": x}, **FP32)["y"].shape == (1, 2, 8, 8)
    assert linted(proto, **FP32) == [("resize", NAME, "silent")]
    healed = emulate(cured(proto, CURE), {"x": x}, **FP32)["y"]
    np.testing.assert_allclose(healed, run(proto, {"x": x})["y"], rtol=0, atol=3e-6)


def test_a_policy_that_changes_no_length_is_harmless() -> None:
    kind: Kind = {**PYTORCH, "keep_aspect_ratio_policy": "not_larger", "opset": 18}

    assert linted(resize((1, 2, 4, 8), sizes=[1, 2, 4, 8], **kind), **FP32) == []


def test_the_region_of_interest_is_dropped_and_the_rule_cures_it() -> None:
    x = picture(4, 8)
    proto = cropped(x.shape, [0.25, 0.25, 1.0, 0.75])
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **FP32)["y"]

    np.testing.assert_allclose(y, bilinear(x, 3, 5, "asymmetric"), rtol=0, atol=3e-6)
    assert np.abs(y - golden).max() > 0.5
    assert linted(proto, **FP32) == [("resize", NAME, "silent")]
    healed = emulate(cured(proto, CURE), {"x": x}, **FP32)["y"]
    np.testing.assert_allclose(healed, golden, rtol=0, atol=3e-6)


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(cropped((1, 2, 4, 8), [0, 0, 1, 0.5]), id="crop"),
        pytest.param(
            resize((1, 2, 4, 8), sizes=[1, 2, 6, 8], **FOR_NN),
            id="for-nn",
        ),
    ],
)
def test_rare_modes_are_unknown_from_8_5_on_with_no_candidate(
    proto: onnx.ModelProto,
) -> None:
    x, config = picture(4, 8), {**FP32, "cann": "8.5"}

    assert linted(proto, **config) == [("resize", NAME, "unknown")]
    with pytest.raises(NotModelledError, match=r"'resize' .* a pass that is not open"):
        emulate(proto, {"x": x}, **config)
    healed = emulate(cured(proto, CURE), {"x": x}, **config)["y"]
    np.testing.assert_allclose(healed, run(proto, {"x": x})["y"], rtol=0, atol=3e-6)


@pytest.mark.parametrize("mode", ["pytorch_half_pixel", "asymmetric"])
def test_scales_of_no_whole_length_are_replaced_and_the_rule_cures_it(mode: str) -> None:
    x, config = picture(5, 5), FP32  # 5 * 1.5 = 7.5: CANN takes 7 / 5
    kind: Kind = {"mode": "linear", "coordinate_transformation_mode": mode}
    proto = resize(x.shape, scales=[1, 1, 1.5, 1.5], **kind)
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **config)["y"]

    np.testing.assert_allclose(y, bilinear(x, 7, 7, mode), rtol=0, atol=3e-6)
    assert np.abs(y - golden).max() > 0.1
    assert linted(proto, **config) == [("resize", SCALE, "silent")]
    healed = emulate(cured(proto, CURE), {"x": x}, **config)["y"]
    np.testing.assert_allclose(healed, golden, rtol=0, atol=3e-6)


@pytest.mark.parametrize("mode", ["pytorch_half_pixel", "asymmetric", "half_pixel"])
def test_which_scale_counts_from_8_5_on_is_unknown(mode: str) -> None:
    """The parser hands over both sizes and scales."""
    x, config = picture(5, 5), {**FP32, "cann": "9.1"}
    kind: Kind = {"mode": "linear", "coordinate_transformation_mode": mode}
    proto = resize(x.shape, scales=[1, 1, 1.5, 1.5], **kind)

    assert ("resize", SCALE, "unknown") in linted(proto, **config)
    with pytest.raises(NotModelledError, match=r"scale is 1\.5, CANN may take 1\.4"):
        emulate(proto, {"x": x}, **config)
    healed = emulate(cured(proto, CURE), {"x": x}, **config)["y"]
    np.testing.assert_allclose(healed, run(proto, {"x": x})["y"], rtol=0, atol=3e-6)


def test_scales_of_whole_lengths_and_corners_are_harmless() -> None:
    whole = resize((1, 2, 4, 6), scales=[1, 1, 1.5, 2.5], **PYTORCH)
    kind: Kind = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    corners = resize((1, 2, 5, 5), scales=[1, 1, 1.5, 1.5], **kind)

    assert linted(whole, **FP32) == []
    assert linted(corners, **FP32) == []
