"""What CANN's path for big pooling windows computes, and what gets lost on it.

Transpose to NHWC, PadV2 by the attribute `pads`, pool "VALID", transpose back: neither
auto_pad nor ceil_mode is read there, and `pads` are elements like all others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.opset_spelling import padded
from ascendflow.graph.windows import lengths_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.graph.windows import Window


def lost(node: ir.Node, window: Window) -> Iterator[tuple[str, str]]:
    """Give each of auto_pad and ceil_mode that changes the output by being lost.

    Yields:
        The attribute's name, and its value and what is lost by it in words.
    """
    lengths = lengths_of(node)
    if window.is_same:
        pads = None if lengths is None else window.pads_for(lengths)
        if pads is None or pads:
            spelled = "" if pads is None else f", pads {pads.spelled}"
            yield "auto_pad", f"auto_pad {window.auto_pad}{spelled}"
    elif window.ceil:
        if lengths is None:
            yield "ceil_mode", "ceil_mode"
            return
        ceil = window.outputs_for(lengths)
        floor = replace(window, ceil=False).outputs_for(lengths)
        if ceil != floor:
            text = f"ceil_mode, output {list(floor)} instead of {list(ceil)}"
            yield "ceil_mode", text


def spell_out(node: ir.Node, window: Window, padding: float) -> None:
    """Pad with a number, then pool what is there."""
    value = node.inputs[0]
    assert value is not None  # noqa: S101, a pool reads something
    chain = Chain(node)
    if window.pads:
        value = padded(chain, value, window.pads, np.array(padding, np.float32))
    window_lists = {"kernel_shape": window.kernel, "strides": window.strides}
    chain(node.op_type, [value], {name: list(v) for name, v in window_lists.items()})
    chain.put_in_place()
