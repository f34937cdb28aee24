"""`convert: {aipp: {<input>: ...}}`: how the device prepares a picture for an input.

Source: GE `docs/zh/user_guides/atc_tools/AIPP/config_file_template.md`. Its order holds
whatever order is written: swaps, crop, colour space, mean and scale, padding.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, Field

from ascendflow import atc_words
from ascendflow.manifest.block import STRICT, FromList
from ascendflow.manifest.fields import Number, one_of

_NO_FULL_CHROMA = (
    "a gray YUV400_U8 is no stand-in: no document says how a device makes full chroma of "
    "it, so ONNX could not be given the same picture; give samples as RGB888_U8, or name "
    "an insert_op_conf of your own, with backend: cann"
)
PICTURE_HINTS = dict.fromkeys(("YUV420SP_U8", "YUV422SP_U8", "YUYV_U8"), _NO_FULL_CHROMA)

_CROP = "crop: {top, left, height, width}"
_COLORS = "color_space: {matrix, output_bias}"
_PADDING = "padding: {top, bottom, left, right, value}"
ATCS_WORDS = {
    r"aipp_mode": "remove it: it always is static",
    r"related_input_(rank|name)": "remove it: the input's name stands above the block",
    r"max_src_image_size": "remove it: it is for a dynamic AIPP",
    r"src_image_size_[hw]": "write src_image_size: [height, width]",
    r"rbuv_swap_switch": "write swap_channels",
    r"ax_swap_switch": "write swap_alpha",
    r"load_start_pos_[hw]|crop_size_[hw]": f"write {_CROP}",
    r"csc_switch|matrix_r\dc\d|output_bias_\d": f"write {_COLORS}",
    r"input_bias_\d": "remove it: it is for YUV, and pictures are RGB or gray here",
    r"(mean|min)_chn_\d": "write mean: [...], the sums of mean_chn and min_chn",
    r"var_reci_chn_\d": "write scale: [...]",
    r"(top|bottom|left|right)_padding_size|padding_value": f"write {_PADDING}",
    r"resize\w*": "remove it: pictures are as large as the crop, or the input",
}
"""Patterns of the keys of ATC's own AIPP file -> what to do for it here."""


def in_our_words(key: str) -> str | None:
    """Say what to write for a key of ATC's own file; None for what is none of its keys."""
    known = ATCS_WORDS.items()
    return next((said for word, said in known if re.fullmatch(word, key, re.ASCII)), None)


Byte = Annotated[int, Field(ge=0, le=255)]
Length = Annotated[int, Field(ge=1, le=4096)]
Start = Annotated[int, Field(ge=0, le=4095)]
Border = Annotated[int, Field(ge=0, le=32)]
Factor = Annotated[int, Field(ge=-32677, le=32676)]
Row = Annotated[tuple[Factor, Factor, Factor], FromList]
PerChannel = Annotated[tuple[Number, ...], FromList]


class Crop(BaseModel):
    """What of the picture is taken, in pixels."""

    model_config = STRICT

    top: Start = 0
    """Rows above it."""
    left: Start = 0
    """Columns before it."""
    height: Length
    """Its rows."""
    width: Length
    """Its columns."""


class ColorSpace(BaseModel):
    """Channels mixed: sums of `matrix` times channels, over 256, plus `output_bias`."""

    model_config = STRICT

    matrix: Annotated[tuple[Row, Row, Row], FromList]
    """A row for each channel that comes out, in 256ths; ATC's documents list them."""
    output_bias: Annotated[tuple[Byte, Byte, Byte], FromList] = (0, 0, 0)
    """Added to each channel, e.g. [16, 128, 128] for YUV."""


class Padding(BaseModel):
    """Borders around the picture, added last."""

    model_config = STRICT

    top: Border = 0
    """Rows above."""
    bottom: Border = 0
    """Rows below."""
    left: Border = 0
    """Columns before."""
    right: Border = 0
    """Columns behind."""
    value: Number = 0
    """What they hold: a value behind mean and scale."""


class Aipp(BaseModel):
    """Steps on the device, which turn a uint8 picture (N, H, W, C) into the input."""

    model_config = STRICT

    input_format: Annotated[str, one_of(atc_words.PICTURES, PICTURE_HINTS)]
    """What samples hold: RGB888_U8 of 3 channels, XRGB8888_U8 of 4, YUV400_U8 of 1."""
    src_image_size: Annotated[tuple[Length, Length], FromList] | None = None
    """Height and width of the pictures; absent: those of the input."""
    swap_channels: bool = False
    """Swap the first and the third channel: pictures are BGR, the model wants RGB."""
    swap_alpha: bool = False
    """Put the first of four channels last: pictures are XRGB, not RGBX."""
    crop: Crop | None = None
    color_space: ColorSpace | None = None
    mean: PerChannel | None = None
    """Taken off each channel, 0 to 255, e.g. [123.675, 116.28, 103.53]."""
    scale: PerChannel | None = None
    """Each channel is then multiplied by it: 1 / standard deviation, in units of bytes."""
    padding: Padding | None = None
