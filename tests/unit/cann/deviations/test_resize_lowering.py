"""The emulated Resize against a plain transcription of CANN's kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.emulation import FP32, IEEE, convert, emulate
from tests.models import F32, resize, run
from tests.resize_kernels import bilinear, nearest, picture

if TYPE_CHECKING:
    from pathlib import Path

Kind = dict[str, Any]
MODES = (
    "half_pixel",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "half_pixel_symmetric",
)
SIZES = [
    pytest.param((4, 6), (8, 12), id="2x"),
    pytest.param((4, 6), (6, 9), id="1.5x"),
    pytest.param((9, 12), (3, 4), id="third"),
    pytest.param((8, 6), (4, 3), id="half"),
    pytest.param((5, 7), (11, 4), id="odd"),
    pytest.param((4, 6), (1, 6), id="height-1-out"),
    pytest.param((1, 5), (3, 1), id="height-1-in"),
    pytest.param((6, 4), (6, 4), id="same"),
]


def resized(
    x: np.ndarray, sizes: tuple[int, int], config: dict[str, str], **kind: Any
) -> Any:
    proto = resize(x.shape, sizes=[*x.shape[:2], *sizes], **kind)
    return emulate(proto, {"x": x}, **config)["y"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("lengths_in", "lengths_out"), SIZES)
def test_linear_equals_the_kernel_in_fp32(
    mode: str, lengths_in: tuple[int, int], lengths_out: tuple[int, int]
) -> None:
    x = picture(*lengths_in)
    wide = FP32

    y = resized(x, lengths_out, wide, mode="linear", coordinate_transformation_mode=mode)

    # fp32 positions differ in the last bits: onnxruntime divides by out / in
    np.testing.assert_allclose(y, bilinear(x, *lengths_out, mode), rtol=0, atol=3e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("soc_version", ["Ascend310P3", "Ascend310B1", "Ascend910A"])
@pytest.mark.parametrize("nearest_mode", ["floor", "round_prefer_ceil"])
@pytest.mark.parametrize(("lengths_in", "lengths_out"), SIZES)
def test_nearest_picks_the_kernels_pixels_exactly(
    mode: str,
    soc_version: str,
    nearest_mode: str,
    lengths_in: tuple[int, int],
    lengths_out: tuple[int, int],
) -> None:
    x = picture(*lengths_in)
    kind: Kind = {
        "coordinate_transformation_mode": mode,
        "nearest_mode": nearest_mode,
    }

    y = resized(x, lengths_out, {"soc_version": soc_version}, mode="nearest", **kind)

    half_away = soc_version == "Ascend310B1"
    np.testing.assert_array_equal(y, nearest(x, *lengths_out, mode, half_away=half_away))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("lengths_in", "lengths_out"), SIZES)
def test_from_8_5_on_half_pixel_sets_the_flag_for_nearest(
    mode: str, lengths_in: tuple[int, int], lengths_out: tuple[int, int]
) -> None:
    x = picture(*lengths_in)
    target = {"soc_version": IEEE, "cann": "8.5.0"}

    y = resized(x, lengths_out, target, mode="nearest", coordinate_transformation_mode=mode)

    flag = "pytorch_half_pixel" if mode == "half_pixel" else mode
    np.testing.assert_array_equal(y, nearest(x, *lengths_out, flag, half_away=True))


def test_align_corners_ties_go_to_even_or_up_by_soc() -> None:
    x = np.arange(4, dtype=F32).reshape(1, 1, 1, 4)  # 7 out: positions 0, .5, 1, 1.5, ...
    kind: Kind = {
        "mode": "nearest",
        "coordinate_transformation_mode": "align_corners",
    }

    even = resized(x, (1, 7), {"soc_version": "Ascend310P3"}, **kind)
    up = resized(x, (1, 7), {"soc_version": "Ascend910B1"}, **kind)

    assert even.ravel().tolist() == [0, 0, 1, 2, 2, 2, 3]
    assert up.ravel().tolist() == [0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("mode", ["half_pixel", "pytorch_half_pixel", "asymmetric"])
@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
def test_scales_only_give_the_size_and_the_kernel_makes_its_own(
    mode: str, interpolation: str
) -> None:
    x = picture(5, 5)  # 5 * 1.5 = 7.5: size 7, so CANN's scale is 7 / 5, not 1.5
    kind: Kind = {"mode": interpolation, "coordinate_transformation_mode": mode}
    proto = resize(x.shape, scales=[1, 1, 1.5, 1.5], **kind)
    wide = FP32

    y = emulate(proto, {"x": x}, **wide)["y"]

    if interpolation == "linear":
        np.testing.assert_allclose(y, bilinear(x, 7, 7, mode), rtol=0, atol=3e-6)
    else:
        np.testing.assert_array_equal(y, nearest(x, 7, 7, mode, half_away=True))


@pytest.mark.parametrize("opset", [10, 11, 13, 15, 17])
@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
def test_every_opset_is_lowered(opset: int, interpolation: str) -> None:
    x = picture(4, 6)
    proto = resize(x.shape, scales=[1, 1, 1.75, 2.5], opset=opset, mode=interpolation)

    y = emulate(proto, {"x": x}, soc_version=IEEE)["y"]

    # Opset 10 has no mode; later ones default to half_pixel. Both become asymmetric.
    if interpolation == "linear":
        expected = bilinear(x, 7, 15, "asymmetric").astype(np.float16).astype(F32)
        np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-6)
    else:
        np.testing.assert_array_equal(y, nearest(x, 7, 15, "asymmetric", half_away=True))


def test_length_one_reads_the_centre_where_onnx_reads_index_0() -> None:
    """RS02."""
    x = np.arange(24, dtype=F32).reshape(1, 1, 4, 6)
    kind: Kind = {
        "mode": "linear",
        "coordinate_transformation_mode": "pytorch_half_pixel",
    }
    proto = resize(x.shape, sizes=[1, 1, 1, 6], **kind)

    y = emulate(proto, {"x": x})["y"]

    assert run(proto, {"x": x})["y"].ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert y.ravel().tolist() == [9, 10, 11, 12, 13, 14]


@pytest.mark.parametrize(
    ("mode", "deviates"),
    [
        ("half_pixel", True),
        ("pytorch_half_pixel", False),
        ("align_corners", False),
        ("asymmetric", False),
    ],
)
def test_only_nodes_whose_values_change_are_listed(
    mode: str, deviates: bool, tmp_path: Path
) -> None:
    kind: Kind = {"mode": "linear", "coordinate_transformation_mode": mode}

    proto = resize([1, 2, 4, 6], scales=[1, 1, 2, 2], **kind)
    document = convert(proto, tmp_path, soc_version=IEEE)

    listed = [entry for entry in document["applied"] if entry["nodes"]]
    assert bool(listed) == deviates
    assert document["modelled_nodes"] == 1
    assert document["target_ops"] == {"resize": "ResizeBilinearV2"}


@pytest.mark.parametrize(
    ("cann", "confidence"),
    [("6.0.RC1", "high"), ("5.1", "high"), ("8.1.RC1", "medium"), ("7.0", "medium")],
)
def test_confidence_falls_where_the_plugin_was_not_read(
    cann: str, confidence: str, tmp_path: Path
) -> None:
    proto = resize([1, 2, 4, 6], scales=[1, 1, 2, 2], mode="linear", opset=15)

    document = convert(proto, tmp_path, cann=cann)

    assert document["applied"][0]["confidence"] == confidence


@pytest.mark.parametrize("opset", [11, 17])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_a_batch_of_open_length_stays_open(mode: str, opset: int) -> None:
    kind: Kind = {"mode": mode, "opset": opset, "coordinate_transformation_mode": MODES[1]}
    x = picture(4, 6).repeat(3, axis=0)
    proto = resize(["N", "C", 4, 6], scales=[1, 1, 1.5, 2], **kind)

    y = emulate(proto, {"x": x}, **FP32)["y"]

    if mode == "linear":
        expected = bilinear(x, 6, 12, MODES[1])
    else:
        expected = nearest(x, 6, 12, MODES[1], half_away=False)
    np.testing.assert_allclose(y, expected, rtol=0, atol=3e-6)
