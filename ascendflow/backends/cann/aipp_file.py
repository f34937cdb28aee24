"""`convert.aipp` as the file that `--insert_op_conf` names.

Source: GE `graph_metadef/proto/insert_op.proto` (names), `aipp_op.cc` (what stands for what
is not written: every value that counts is). Means are numbers with a fraction, which only
`min_chn` holds: pixel = (byte - mean_chn - min_chn) * var_reci_chn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Entry = tuple[str, str]


def aipp_text(
    blocks: Mapping[str, Mapping[str, Any]], inputs: Sequence[Mapping[str, Any]]
) -> str:
    """Write the blocks, in the order of the inputs.

    Args:
        blocks: input's name -> its block of `convert.aipp`.
        inputs: the model's, in order: `name` and `shape`.
    """
    text = ""
    for rank, each in enumerate(inputs):
        if each["name"] in blocks:
            entries = _entries(blocks[each["name"]], rank, each["shape"])
            lines = "".join(f"    {name}: {value}\n" for name, value in entries)
            text += f"aipp_op {{\n{lines}}}\n"
    return text


def _entries(block: Mapping[str, Any], rank: int, shape: Sequence[int]) -> Iterator[Entry]:
    yield "aipp_mode", "static"
    yield "related_input_rank", str(rank)
    yield "input_format", block["input_format"]
    if (source := block.get("src_image_size")) is not None:
        yield "src_image_size_h", str(source[0])
        yield "src_image_size_w", str(source[1])
    yield "rbuv_swap_switch", _switch(block.get("swap_channels"))
    yield "ax_swap_switch", _switch(block.get("swap_alpha"))
    yield from _crop(block.get("crop"))
    yield from _color_space(block.get("color_space"))
    for channel in range(shape[1]):
        mean, scale = block.get("mean"), block.get("scale")
        yield f"mean_chn_{channel}", "0"
        yield f"min_chn_{channel}", _number(0 if mean is None else mean[channel])
        yield f"var_reci_chn_{channel}", _number(1 if scale is None else scale[channel])
    yield from _padding(block.get("padding"))


def _crop(crop: Mapping[str, int] | None) -> Iterator[Entry]:
    yield "crop", _switch(crop)
    if crop is not None:
        yield "load_start_pos_h", str(crop.get("top", 0))
        yield "load_start_pos_w", str(crop.get("left", 0))
        yield "crop_size_h", str(crop["height"])
        yield "crop_size_w", str(crop["width"])


def _color_space(space: Mapping[str, Any] | None) -> Iterator[Entry]:
    yield "csc_switch", _switch(space)
    if space is not None:
        for row, factors in enumerate(space["matrix"]):
            for column, factor in enumerate(factors):
                yield f"matrix_r{row}c{column}", str(factor)
        for channel, bias in enumerate(space.get("output_bias", (0, 0, 0))):
            yield f"output_bias_{channel}", str(bias)


def _padding(padding: Mapping[str, Any] | None) -> Iterator[Entry]:
    yield "padding", _switch(padding)
    if padding is not None:
        for side in ("left", "right", "top", "bottom"):
            yield f"{side}_padding_size", str(padding.get(side, 0))
        yield "padding_value", _number(padding.get("value", 0))


def _switch(value: Any) -> str:
    return "true" if value else "false"


def _number(value: float) -> str:
    return repr(float(value))
