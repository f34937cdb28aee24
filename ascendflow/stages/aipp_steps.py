"""What AIPP makes of a picture, computed for the ONNX side.

Source: GE `docs/zh/user_guides/atc_tools/AIPP/config_file_template.md`: the order of the
steps, the formulas, ">> 8" as an integer shift. That a sum beyond a byte becomes 0 or 255
is read from nowhere: a byte has no other way out. A device computes mean and scale in
float16, here they are float32: that loss is the target's, and seen as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

RGB = 3


def prepared(picture: np.ndarray, aipp: Mapping[str, Any], channels: int) -> np.ndarray:
    """Make the input of a picture.

    Args:
        picture: uint8, (n, h, w, c).
        aipp: a block of `convert.aipp`, defaults filled in, absent where null.
        channels: how many the input has.

    Returns:
        float32, (n, channels, h, w) behind crop and padding.
    """
    import numpy as np

    made = _swapped(picture, aipp)
    made = _cropped(made, aipp.get("crop"))
    made = _mixed(made, aipp.get("color_space"))[..., :channels]
    planes = np.moveaxis(made, -1, 1).astype(np.float32)
    for key, step in (("mean", np.subtract), ("scale", np.multiply)):
        if aipp.get(key) is not None:
            factors = np.asarray(aipp[key], np.float32).reshape(1, -1, 1, 1)
            planes = step(planes, factors)
    return np.ascontiguousarray(_padded(planes, aipp.get("padding")))


def _swapped(picture: np.ndarray, aipp: Mapping[str, Any]) -> np.ndarray:
    order = list(range(picture.shape[-1]))
    if aipp.get("swap_alpha"):
        order = [*order[1:], order[0]]
    if aipp.get("swap_channels"):
        order[0], order[2] = order[2], order[0]
    return picture[..., order]


def _cropped(picture: np.ndarray, crop: Mapping[str, int] | None) -> np.ndarray:
    if crop is None:
        return picture
    top, left = crop.get("top", 0), crop.get("left", 0)
    return picture[:, top : top + crop["height"], left : left + crop["width"]]


def _mixed(picture: np.ndarray, space: Mapping[str, Any] | None) -> np.ndarray:
    import numpy as np

    if space is None:
        return picture
    matrix = np.asarray(space["matrix"], np.int64)
    bias = np.asarray(space.get("output_bias", (0, 0, 0)), np.int64)
    sums = (picture[..., :RGB].astype(np.int64) @ matrix.T >> 8) + bias
    mixed: np.ndarray = np.clip(sums, 0, 255).astype(np.uint8)
    return mixed


def _padded(planes: np.ndarray, padding: Mapping[str, Any] | None) -> np.ndarray:
    import numpy as np

    if padding is None:
        return planes
    rows = (padding.get("top", 0), padding.get("bottom", 0))
    columns = (padding.get("left", 0), padding.get("right", 0))
    borders = ((0, 0), (0, 0), rows, columns)
    return np.pad(planes, borders, constant_values=padding.get("value", 0))
