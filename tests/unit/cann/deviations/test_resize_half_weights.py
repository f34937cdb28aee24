from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.emulator.backend import Emulator
from tests.emulation import FP32, SATURATING, convert, emulate, linted
from tests.models import F32, resize, run
from tests.resize_kernels import half_weights, picture

if TYPE_CHECKING:
    from pathlib import Path

Kind = dict[str, Any]


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


HALF_PIXEL: Kind = {
    "mode": "linear",
    "coordinate_transformation_mode": "pytorch_half_pixel",
}


def test_lint_says_by_how_much_and_onnxruntime_is_as_far_away() -> None:
    """fp16 numbers, so that the weights alone differ; only their sum need be fp16."""
    x = picture(6, 8).astype(np.float16).astype(F32) * F32(8)
    proto = resize(x.shape, sizes=[1, 2, 18, 20], **HALF_PIXEL)

    y = emulate(proto, {"x": x}, soc_version=SATURATING)["y"]

    assert linted(proto) == [("resize", "resize-half-weights", "precision")]
    exact = run(proto, {"x": x})["y"]
    rounding = 2.0**-11 * np.abs(exact)  # of the result alone: half a unit in last place
    assert (np.abs(y - exact) > 2 * rounding).any()


def test_one_axis_of_an_inexact_ratio_is_enough() -> None:
    """Two of the four corners then have no weight at all."""
    x = picture(6, 8) * F32(8)
    proto = resize(x.shape, sizes=[1, 2, 6, 20], **HALF_PIXEL)

    y = emulate(proto, {"x": x}, soc_version=SATURATING)["y"]

    assert linted(proto) == [("resize", "resize-half-weights", "precision")]
    np.testing.assert_array_equal(y, half_weights(x, 6, 20, "pytorch_half_pixel"))


@pytest.mark.parametrize(
    ("sizes", "config"),
    [
        pytest.param([1, 2, 12, 16], {}, id="dyadic"),
        pytest.param([1, 2, 18, 20], {"soc_version": "Ascend910A"}, id="another-soc"),
        pytest.param([1, 2, 18, 20], FP32, id="fp32"),
    ],
)
def test_lint_is_silent_where_the_weights_are_exact(
    sizes: list[int], config: dict[str, Any]
) -> None:
    proto = resize([1, 2, 6, 8], sizes=sizes, **HALF_PIXEL)

    assert linted(proto, **config) == []


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


def test_of_two_behaviours_each_has_its_own_weights(tmp_path: Path) -> None:
    """Half-pixel and asymmetric sampling by 3 weight other corners."""
    x = picture(4, 6) * F32(8)
    proto = resize(x.shape, sizes=[1, 2, 12, 18], mode="linear")

    document = convert(proto, tmp_path, cann="9.1")
    models = Emulator().behaviours(tmp_path / "model")

    names = [each["deviation"] for each in document["applied"] if each["nodes"]]
    assert names == ["resize-half-weights", "resize-half-pixel"]
    for folder, mode in zip(models.values(), ("pytorch_half_pixel", "-"), strict=True):
        y = next(iter(Emulator().infer(folder, [{"x": x}], threads=1)))["y"]
        np.testing.assert_array_equal(y, half_weights(x, 12, 18, mode))
