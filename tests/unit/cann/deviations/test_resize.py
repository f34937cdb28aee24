"""The emulated Resize against a plain transcription of CANN's kernels, written here.

The transcription loops over output pixels in fp32 and shares nothing with ascendflow.
Formulas: resize_bilinear_v2.py and resize_nearest_neighbor_v2.py, CANN 8.1.RC1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import NotModelledError, StageError
from tests.emulation import IEEE, SATURATING, convert, emulate
from tests.models import model, node, resize, run

if TYPE_CHECKING:
    from pathlib import Path

F32 = np.float32
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


def flags(mode: str) -> tuple[bool, bool]:
    """(half_pixel_centers, align_corners) as the parser sets them: two strings only."""
    return mode == "pytorch_half_pixel", mode == "align_corners"


def position(i: int, n_in: int, n_out: int, mode: str) -> np.float32:
    half, corners = flags(mode)
    if corners and n_out > 1:
        return F32(i) * (F32(n_in - 1) / F32(n_out - 1))
    scale = F32(n_in) / F32(n_out)
    if half:
        return max(F32(0), (F32(i) + F32(0.5)) * scale - F32(0.5))
    return F32(i) * scale


def bilinear(x: np.ndarray, height: int, width: int, mode: str) -> np.ndarray:
    n, c, h, w = x.shape
    y = np.zeros((n, c, height, width), F32)
    for i in range(height):
        row = min(position(i, h, height, mode), F32(h - 1))
        r0 = int(row)
        r1, dr = min(r0 + 1, h - 1), row - F32(r0)
        for j in range(width):
            column = min(position(j, w, width, mode), F32(w - 1))
            c0 = int(column)
            c1, dc = min(c0 + 1, w - 1), column - F32(c0)
            y[:, :, i, j] = (
                x[:, :, r0, c0] * ((1 - dr) * (1 - dc))
                + x[:, :, r0, c1] * ((1 - dr) * dc)
                + x[:, :, r1, c0] * (dr * (1 - dc))
                + x[:, :, r1, c1] * (dr * dc)
            )
    return y


def nearest_index(i: int, n_in: int, n_out: int, mode: str, *, half_away: bool) -> int:
    half, corners = flags(mode)
    if corners:
        x = float(position(i, n_in, n_out, mode))
        index = int(x + 0.5) if half_away else round(x)
    elif half:
        index = int((F32(i) + F32(0.5)) * (F32(n_in) / F32(n_out)))
    else:
        index = int(F32(i) * (F32(n_in) / F32(n_out)))
    return min(index, n_in - 1)


def nearest(
    x: np.ndarray, height: int, width: int, mode: str, *, half_away: bool
) -> np.ndarray:
    rows = [
        nearest_index(i, x.shape[2], height, mode, half_away=half_away)
        for i in range(height)
    ]
    columns = [
        nearest_index(j, x.shape[3], width, mode, half_away=half_away) for j in range(width)
    ]
    return x[:, :, rows][:, :, :, columns]


def picture(height: int, width: int, channels: int = 2) -> np.ndarray:
    """Random fp16 numbers in fp32, so that storage adds no rounding of the input."""
    x = np.random.default_rng(0).standard_normal((1, channels, height, width))
    return x.astype(np.float16).astype(F32)


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
    wide = {"soc_version": IEEE, "precision_mode": "must_keep_origin_dtype"}

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
    wide = {"soc_version": IEEE, "precision_mode": "must_keep_origin_dtype"}

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


def test_antialias_is_dropped_and_said_so(tmp_path: Path) -> None:
    x = picture(16, 16, channels=1)
    kind: Kind = {"mode": "linear", "antialias": 1, "opset": 18}
    proto = resize(x.shape, sizes=[1, 1, 5, 5], **kind)
    mode = "pytorch_half_pixel"
    cured = resize(x.shape, sizes=[1, 1, 5, 5], coordinate_transformation_mode=mode, **kind)

    document = convert(cured, tmp_path, soc_version=IEEE)
    y = emulate(proto, {"x": x}, soc_version=IEEE)["y"]

    np.testing.assert_allclose(y, bilinear(x, 5, 5, "half_pixel"), rtol=0, atol=2e-3)
    assert document["applied"][0]["deviation"] == "resize-sampling"
    assert document["applied"][0]["nodes"] == ["resize"]


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


def test_cubic_is_refused_as_cann_does(tmp_path: Path) -> None:
    proto = resize([1, 1, 6, 6], sizes=[1, 1, 9, 9], mode="cubic")

    with pytest.raises(StageError, match=r"'resize' \(Resize\): .*refuses mode 'cubic'"):
        convert(proto, tmp_path)


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(resize([2, 4, 6], scales=[1, 2, 2]), "not four", id="rank-3"),
        pytest.param(
            resize(["N", 2, 4, "W"], scales=[1, 1, 2, 2]), "not four fixed", id="dynamic"
        ),
        pytest.param(resize([1, 2, 4, 6], scales=[1, 2, 2, 2]), "N or C", id="channels"),
        pytest.param(
            resize([1, 2, 4, 6], sizes=[8, 12], axes=[2, 3], opset=18), "axes", id="axes"
        ),
    ],
)
def test_what_no_formula_covers_is_not_modelled(
    proto: onnx.ModelProto, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(NotModelledError, match=reason):
        convert(proto, tmp_path)


def test_sizes_that_are_computed_are_not_modelled(tmp_path: Path) -> None:
    nodes = [node("Resize", ["x", "", "", "sizes"], ["y"], name="up", mode="linear")]
    inputs: list[Any] = [("x", [1, 1, 4, 4]), ("sizes", [4], onnx.TensorProto.INT64)]
    proto = model(nodes, inputs, [("y", ["a", "b", "c", "d"])])

    with pytest.raises(NotModelledError, match=r"'up' .*not fixed"):
        convert(proto, tmp_path)


def half_weights(x: np.ndarray, height: int, width: int, mode: str) -> np.ndarray:
    """310P: fp32 products of weights, rounded to fp16; sums in fp32, rounded once."""
    h, w = x.shape[2:]
    y = np.zeros((*x.shape[:2], height, width), F32)
    for i in range(height):
        row = min(position(i, h, height, mode), F32(h - 1))
        r0 = int(row)
        r1, dr = min(r0 + 1, h - 1), row - F32(r0)
        for j in range(width):
            column = min(position(j, w, width, mode), F32(w - 1))
            c0 = int(column)
            c1, dc = min(c0 + 1, w - 1), column - F32(c0)
            for r, c, weight in (
                (r0, c0, (1 - dr) * (1 - dc)),
                (r0, c1, (1 - dr) * dc),
                (r1, c0, dr * (1 - dc)),
                (r1, c1, dr * dc),
            ):
                y[:, :, i, j] += x[:, :, r, c] * F32(np.float16(weight))
    return y.astype(np.float16).astype(F32)


def test_310p_rounds_the_weights_of_ratios_that_are_not_dyadic(tmp_path: Path) -> None:
    x = picture(6, 8) * F32(8)
    kind: Kind = {
        "mode": "linear",
        "coordinate_transformation_mode": "pytorch_half_pixel",
    }
    proto = resize(x.shape, sizes=[1, 2, 18, 20], **kind)  # 3x and 2.5x

    document = convert(proto, tmp_path, soc_version=SATURATING)
    here = emulate(proto, {"x": x}, soc_version=SATURATING)["y"]
    elsewhere = emulate(proto, {"x": x}, soc_version="Ascend910A")["y"]

    np.testing.assert_array_equal(here, half_weights(x, 18, 20, "pytorch_half_pixel"))
    assert not np.array_equal(here, elsewhere)
    assert document["applied"][0]["deviation"] == "resize-half-weights"
    assert document["applied"][0]["confidence"] == "medium"


@pytest.mark.parametrize(
    ("shape", "sizes", "mode", "precision"),
    [
        pytest.param((1, 2, 4, 6), (8, 12), "linear", "force_fp16", id="dyadic"),
        pytest.param((1, 512, 4, 6), (12, 15), "linear", "force_fp16", id="tiling-100110"),
        pytest.param((1, 2, 1, 1), (3, 5), "linear", "force_fp16", id="from-1x1"),
        pytest.param((1, 2, 5, 6), (5, 6), "linear", "force_fp16", id="same-size"),
        pytest.param((1, 2, 4, 6), (12, 15), "nearest", "force_fp16", id="nearest"),
        pytest.param(
            (1, 2, 4, 6), (12, 15), "linear", "must_keep_origin_dtype", id="fp32-data"
        ),
    ],
)
def test_310p_keeps_exact_weights_elsewhere(
    shape: tuple[int, ...],
    sizes: tuple[int, int],
    mode: str,
    precision: str,
    tmp_path: Path,
) -> None:
    kind: Kind = {
        "mode": mode,
        "coordinate_transformation_mode": "pytorch_half_pixel",
    }
    proto = resize(shape, sizes=[*shape[:2], *sizes], **kind)

    document = convert(proto, tmp_path, precision_mode=precision)

    assert "resize-half-weights" not in {e["deviation"] for e in document["applied"]}


def test_the_aspect_ratio_policy_is_dropped_so_the_output_has_another_shape() -> None:
    x = picture(4, 8)
    kind: Kind = {"mode": "linear", "keep_aspect_ratio_policy": "not_larger", "opset": 18}
    proto = resize(x.shape, sizes=[1, 2, 8, 8], **kind)

    assert run(proto, {"x": x})["y"].shape == (1, 2, 4, 8)
    assert emulate(proto, {"x": x})["y"].shape == (1, 2, 8, 8)


def test_the_region_of_interest_is_dropped(tmp_path: Path) -> None:
    x = picture(4, 8)
    kind: Kind = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
    nodes = [node("Resize", ["x", "roi", "", "sizes"], ["y"], **kind)]
    constants: dict[str, np.ndarray] = {
        "roi": np.array([0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75], F32),
        "sizes": np.array([1, 2, 4, 4], np.int64),
    }
    proto = model(nodes, [("x", x.shape)], [("y", [1, 2, 4, 4])], constants)

    document = convert(proto, tmp_path, soc_version=IEEE)

    y = emulate(proto, {"x": x}, soc_version=IEEE)["y"]
    np.testing.assert_array_equal(y, x[:, :, :, ::2])
    assert document["applied"][0]["nodes"] == ["y"]
