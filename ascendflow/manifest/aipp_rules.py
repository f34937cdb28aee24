"""What must hold of `convert.aipp` for ATC to take it, and for both sides to see the same.

Sources: GE `docs/zh/user_guides/atc_tools/AIPP/*.md`, `insert_aipp_op_util.cc` (E10052),
`aipp_op.cc` (E10034), `aipp_param_check.cpp`. YUV420SP is no format here: no document says
how a device makes full chroma of it, so that ONNX could not be given the same picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from ascendflow import atc_words, vocabulary
from ascendflow.manifest.paths import lookup
from ascendflow.manifest.problems import Problem, closest_or_all, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ascendflow.manifest.problems import Keys

FLOATS = ("float32", "float16")
TINIEST = 2.0**-25
"""Up to here float16 rounds to zero."""
NARROW = ("Ascend310P", "Ascend910A", "Ascend910P")
NARROW_WIDTH = 1080
"""Widest padded picture on the SoCs of `NARROW`."""


def aipp_problems(convert: Mapping[str, Any], inputs: Any) -> Iterator[Problem]:
    """Yield every mistake; both are raw, and no type is certain."""
    blocks = convert.get("aipp")
    if not isinstance(blocks, dict) or not blocks:
        return
    yield from _beside(convert)
    listed = [each for each in inputs if isinstance(each, dict)] if _is_list(inputs) else []
    named = {str(each.get("name")): each for each in listed}
    for name, block in blocks.items():
        keys: Keys = ("convert", "aipp", name)
        if name not in named:
            hint = closest_or_all(str(name), named)
            yield Problem(keys, "is no input's name (E10052)", hint)
        elif isinstance(block, dict):
            given = {key: value for key, value in block.items() if value is not None}
            yield from _block(keys, given, named[name], convert)
    halves = convert.get("input_fp16_nodes")
    for index, name in enumerate(halves if _is_list(halves) else []):
        if name in blocks:
            text = f"is prepared by aipp, which makes it uint8, got {shown(name)} (E10034)"
            yield Problem(("convert", "input_fp16_nodes", index), text, "remove one")


def picture_ranges(data: Any) -> Iterator[Problem]:
    """Refuse ranges of random pictures: they are bytes, and all of them are drawn."""
    ranges = lookup(data, ("samples", "random", "ranges"))
    blocks = lookup(data, ("convert", "aipp"))
    for name in ranges if isinstance(ranges, dict) and isinstance(blocks, dict) else ():
        if name in blocks:
            keys = ("samples", "random", "ranges", name)
            text = "is a picture of bytes, which are drawn from 0 to 255"
            yield Problem(keys, text, "remove the line")


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _beside(convert: Mapping[str, Any]) -> Iterator[Problem]:
    for key, why in (
        ("insert_op_conf", "which says the same in ATC's own words"),
        ("dynamic_dims", "and AIPP takes no such gears (E10001)"),
        ("dynamic_shape", "and pictures have a size"),
    ):
        if convert.get(key):
            yield Problem(("convert", "aipp"), f"stands beside {key}, {why}", "remove one")
    layout = convert.get("input_format", "NCHW")
    if layout != "NCHW":
        text = f"must be NCHW beside aipp, got {shown(layout)} (E10001)"
        yield Problem(("convert", "input_format"), text, "remove the line")


def _block(
    keys: Keys, block: Mapping[str, Any], entry: Mapping[str, Any], convert: Any
) -> Iterator[Problem]:
    shape, dtype = entry.get("shape"), entry.get("dtype")
    if isinstance(dtype, str) and dtype not in FLOATS:
        text = f"prepares an input of {dtype}, and AIPP makes float32 or float16"
        yield Problem(keys, text, "declare in `inputs` what the ONNX model takes")
    if not _is_list(shape) or not all(type(size) is int for size in shape):
        return
    if len(shape) != 4:
        text = f"prepares an input of shape {shape}, and pictures need [n, c, h, w]"
        yield Problem(keys, text, "remove it")
        return
    yield from _channels(keys, block, shape[1])
    yield from _values(keys, block, shape[1])
    yield from _sizes(keys, block, shape[2:], convert)


def _channels(keys: Keys, block: Mapping[str, Any], channels: int) -> Iterator[Problem]:
    picture = block.get("input_format")
    if picture not in dict(atc_words.PICTURES_OF):
        return
    gray = picture == "YUV400_U8"
    mixed = "color_space" in block
    wanted = (1,) if gray else (1, 3) if mixed else (3,)
    if channels not in wanted:
        text = f"is {picture}, and the input has {channels} channels"
        hint = "color_space makes one channel of three" if channels == 1 else None
        yield Problem((*keys, "input_format"), text, hint)
    for key in ("swap_channels", "color_space"):
        if gray and block.get(key):
            yield Problem((*keys, key), "is for colours, and the picture is YUV400_U8")
    if block.get("swap_alpha") is True and picture != "XRGB8888_U8":
        text = f"is for XRGB8888_U8, and the picture is {picture}"
        yield Problem((*keys, "swap_alpha"), text, "remove the line")


def _values(keys: Keys, block: Mapping[str, Any], channels: int) -> Iterator[Problem]:
    for key in ("mean", "scale"):
        values = block.get(key)
        if not _is_list(values) or not all(map(_is_number, values)):
            continue
        if len(values) != channels:
            text = f"must have a value for each of {channels} channels, got {len(values)}"
            yield Problem((*keys, key), text)
        for index, value in enumerate(values):
            if key == "mean" and not 0 <= value <= 255:
                text = f"must be within 0 and 255, got {shown(value)}"
                hint = "it is in units of bytes, before scale"
                yield Problem((*keys, key, index), text, hint)
            if key == "scale" and not TINIEST < abs(value) <= vocabulary.HALF_MAX:
                text = f"must be a float16 other than 0, got {shown(value)}"
                yield Problem((*keys, key, index), text, "e.g. 1 / (255 * 0.229)")
    padding = block.get("padding")
    filled = padding.get("value") if isinstance(padding, dict) else None
    if _is_number(filled) and abs(filled) > vocabulary.HALF_MAX:
        text = f"must be a float16, got {shown(filled)}"
        yield Problem((*keys, "padding", "value"), text)


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sizes(
    keys: Keys, block: Mapping[str, Any], wanted: Sequence[int], convert: Any
) -> Iterator[Problem]:
    changing = [key for key in ("src_image_size", "crop", "padding") if key in block]
    if convert.get("dynamic_image_size"):
        for key in changing:
            text = "stands beside dynamic_image_size, whose pictures have no one size"
            yield Problem((*keys, key), f"{text} (E10052)", "remove one")
        return
    source = block.get("src_image_size")
    if source is None and changing:
        text = f"is missing, and {changing[0]} needs it"
        yield Problem((*keys, "src_image_size"), text, "[height, width] of the pictures")
    pair = [*wanted] if source is None else source
    if not _is_list(pair) or len(pair) != 2 or not all(type(s) is int for s in pair):
        return
    if pair[1] < 2 or max(pair) > 4096:
        text = f"must be 1 to 4096 rows of 2 to 4096 pixels, got {list(pair)}"
        yield Problem((*keys, "src_image_size"), text)
    yield from _made(keys, block, pair, wanted, str(convert.get("soc_version")))


def _made(
    keys: Keys,
    block: Mapping[str, Any],
    source: Sequence[int],
    wanted: Sequence[int],
    soc: str,
) -> Iterator[Problem]:
    """Judge the picture's size behind crop and padding."""
    crop, padding = block.get("crop"), block.get("padding")
    made = list(source)
    if isinstance(crop, dict):
        for index, (start, size) in enumerate((("top", "height"), ("left", "width"))):
            first, length = crop.get(start, 0), crop.get(size)
            if type(first) is not int or type(length) is not int:
                return
            made[index] = length
            if first + length > source[index]:
                text = f"ends at {first + length}, and pictures have {size} {source[index]}"
                yield Problem((*keys, "crop", size), text)
    if isinstance(padding, dict):
        for index, sides in enumerate((("top", "bottom"), ("left", "right"))):
            borders = [padding.get(side, 0) for side in sides]
            if not all(type(border) is int for border in borders):
                return
            made[index] += sum(borders)
        if soc.startswith(NARROW) and made[1] > NARROW_WIDTH:
            text = f"makes {made[1]} columns, and {soc} pads up to {NARROW_WIDTH}"
            yield Problem((*keys, "padding"), text)
    if made != [*wanted]:
        text = f"makes pictures of {made}, and the input is of {list(wanted)}"
        yield Problem(keys, text, "height and width behind crop and padding must be its")
