"""Expected pictures come from loops over pixels, from files, or from another library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.stages.aipp_steps import prepared

if TYPE_CHECKING:
    from pathlib import Path

JPEG = [[77, 150, 29], [-43, -85, 128], [128, -107, -21]]
"""RGB to YUV of JPEG. Source: ATC's document `CSC_config.md`."""
RGB = {"input_format": "RGB888_U8"}


def picture(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, shape, dtype=np.uint8)


def test_published_case_of_normalisation(shared: Path) -> None:
    """IO01: not twice, not left out, and channels where they were."""
    folder = shared / "cases" / "IO01"
    raw, wanted = (np.load(folder / f"{n}.npy") for n in ("img_uint8_nhwc", "x_after_aipp"))
    block = RGB | {
        "mean": [123.675, 116.28, 103.53],
        "scale": [0.0171247538, 0.0175070028, 0.0174291938],
    }

    made = prepared(raw, block, 3)

    assert (made.dtype.name, made.shape) == ("float32", (1, 3, 4, 4))
    assert np.array_equal(made, wanted)
    assert raw.nbytes == 48
    swapped = prepared(raw, block | {"swap_channels": True}, 3).mean((2, 3))
    assert np.abs(swapped - wanted.mean((2, 3))).max() == pytest.approx(0.218, abs=1e-3)


@pytest.mark.parametrize(
    ("stored", "switches"),
    [
        ("RGBX", {}),
        ("BGRX", {"swap_channels": True}),
        ("XRGB", {"swap_alpha": True}),
        ("XBGR", {"swap_alpha": True, "swap_channels": True}),
    ],
)
def test_order_of_four_channels(stored: str, switches: dict[str, bool]) -> None:
    """The four packages that ATC's document lists, with the switches that it gives them."""
    values = {"R": 10, "G": 20, "B": 30, "X": 99}
    raw = np.array([[[[values[c] for c in stored]]]], np.uint8)

    made = prepared(raw, {"input_format": "XRGB8888_U8", **switches}, 3)

    assert made.ravel().tolist() == [10, 20, 30]


def test_colour_space_is_the_documents_formula_pixel_by_pixel() -> None:
    raw = picture(2, 3, 5, 3)
    block = RGB | {"color_space": {"matrix": JPEG, "output_bias": [0, 128, 128]}}

    made = prepared(raw, block, 3)

    for n, row, column in np.ndindex(2, 3, 5):
        pixel = [int(value) for value in raw[n, row, column]]
        for channel, bias in enumerate((0, 128, 128)):
            total = sum(f * v for f, v in zip(JPEG[channel], pixel, strict=True))
            wanted = min(max(total // 256 + bias, 0), 255)  # >> 8 rounds down, as // does
            assert made[n, channel, row, column] == wanted


def test_gray_of_colours_is_the_first_row() -> None:
    gray = {"matrix": [[76, 150, 30], [0, 0, 0], [0, 0, 0]]}
    raw = np.array([[[[255, 255, 255], [255, 0, 0], [0, 0, 0]]]], np.uint8)

    made = prepared(raw, RGB | {"color_space": gray}, 1)

    assert made.tolist() == [[[[255, 75, 0]]]]  # 76 * 255 / 256 = 75.7


def test_all_steps_come_in_the_order_of_the_document() -> None:
    raw = picture(1, 6, 12, 4)
    block: dict[str, Any] = {
        "input_format": "XRGB8888_U8",
        "src_image_size": [6, 12],
        "swap_channels": True,
        "swap_alpha": True,
        "crop": {"top": 1, "left": 2, "height": 3, "width": 5},
        "color_space": {"matrix": JPEG, "output_bias": [0, 128, 128]},
        "mean": [10, 20, 30.5],
        "scale": [0.5, 2, -1],
        "padding": {"top": 1, "left": 1, "right": 2, "value": -7},
    }

    made = prepared(raw, block, 3)

    assert made.shape == (1, 3, 4, 8)
    for channel, row, column in np.ndindex(3, 4, 8):
        inside = row >= 1 and 1 <= column < 6
        wanted = -7.0
        if inside:
            _, blue, green, red = (int(v) for v in raw[0, row, column + 1])
            pairs = zip(JPEG[channel], (red, green, blue), strict=True)
            byte = sum(f * v for f, v in pairs) // 256 + (0, 128, 128)[channel]
            byte = min(max(byte, 0), 255)
            wanted = (byte - (10, 20, 30.5)[channel]) * (0.5, 2, -1)[channel]
        assert made[0, channel, row, column] == wanted


def test_normalisation_is_the_usual_one() -> None:
    """Mean and scale in bytes are the mean and deviation of pictures from 0 to 1."""
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    raw = picture(1, 4, 4, 3)
    block = RGB | {
        "mean": list(255 * mean),
        "scale": list(1 / (255 * deviation)),
    }

    wanted = ((raw / 255.0 - mean) / deviation).transpose(0, 3, 1, 2)

    assert np.abs(prepared(raw, block, 3) - wanted).max() < 1e-6
