"""MaxPool with dilations -> the largest of shifted slices, one axis after the other.

ATC reads `dilations` and gives them to the 3-D kernel only, so a 1-D or 2-D window closes
up, silently. A maximum over a window is a maximum over rows of a maximum over columns, and
along one axis it is the Max of as many strided slices as the window has elements. Max is
exact in any order, so the values are the same.

The padding is minus infinity, or the least number of an integer type, as in MaxPool. Of a
window that reads padding alone ONNX says nothing; it becomes what onnxruntime gives, the
least finite number of fp32 and fp64.

Source: ONNX operator documents, MaxPool-12; canndev `max_pool_plugin.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import static_shape
from ascendflow.graph.opset_spelling import SPATIAL, Cut, padded, sliced
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.windows import Pads, Window, lengths_of, read_window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.rewrite_log import Effect


class DilatedMaxPool(Rule):
    """Spell a dilated maximum out."""

    name: ClassVar[str] = "dilated-maxpool"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"MaxPool"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one MaxPool by Pad, Slices and Max."""
        window, lengths = read_window(node), lengths_of(node)
        if (reason := _why_not(node, window)) is not None:
            yield Skipped(node, reason)
            return
        assert window is not None  # noqa: S101, `_why_not` saw to it
        if lengths is None or node.inputs[0] is None:
            yield Skipped(node, "the lengths of its input are not fixed")
            return
        outputs = window.outputs_for(lengths)
        inferred = static_shape(node.outputs[0])
        if inferred is not None and inferred[SPATIAL:] != outputs:
            yield Skipped(node, f"its output is {inferred[SPATIAL:]}, not {outputs} long")
            return
        _spell_out(node, window, lengths, outputs)
        before = {"kernel_shape": list(window.kernel), "dilations": list(window.dilations)}
        yield Applied(node, before, {"op_type": "Max of Slices"})


def _why_not(node: ir.Node, window: Window | None) -> str | None:
    if window is None or not window.is_dilated:
        return "its window has no gaps"
    if len(node.outputs) > 1:
        return "it gives Indices, which a Max does not"
    if window.is_same:
        return f"auto_pad {window.auto_pad} of a dilated window is computed in two ways"
    if node.inputs[0] is None or node.inputs[0].dtype is None:
        return "the type of its input is unknown"
    return None


def _of_padding(
    window: Window, lengths: tuple[int, ...], outputs: tuple[int, ...]
) -> np.ndarray:
    """Return which windows read padding alone, as they do along any axis: 1, 1, outputs."""
    found = np.zeros((1, 1, *outputs), bool)
    for axis, (length, count) in enumerate(zip(lengths, outputs, strict=True)):
        begins = np.arange(count)[:, None] * window.strides[axis] - window.pads.heads[axis]
        places = begins + np.arange(window.kernel[axis]) * window.dilations[axis]
        reads = ((places >= 0) & (places < length)).any(axis=1)
        found |= ~reads.reshape(-1, *[1] * (window.rank - axis - 1))
    return found


def _spell_out(
    node: ir.Node, window: Window, lengths: tuple[int, ...], outputs: tuple[int, ...]
) -> None:
    chain, x = Chain(node), node.inputs[0]
    assert x is not None  # noqa: S101, it has lengths
    value = x
    pads = Pads(window.pads.heads, window.tails_read(lengths))
    if pads:
        value = padded(chain, value, pads, _least(value))
    for axis in range(window.rank):
        value = _largest_along(chain, value, window, axis, outputs[axis])
    empty, dtype = _of_padding(window, lengths, outputs), x.dtype
    if empty.any() and dtype in {ir.DataType.FLOAT, ir.DataType.DOUBLE}:
        least = np.array(np.finfo(dtype.numpy()).min)
        choices = [chain.constant("empty", empty), chain.constant("least", least), value]
        chain("Where", choices)
    elif value is x:  # windows of one element, nothing to do
        chain("Identity", [value])
    chain.put_in_place()


def _largest_along(
    chain: Chain, value: ir.Value, window: Window, axis: int, count: int
) -> ir.Value:
    """Reduce one spatial axis to `count` maxima."""
    stride, dilation = window.strides[axis], window.dilations[axis]
    span = (count - 1) * stride + 1
    slices = [
        sliced(
            chain, value, [Cut(SPATIAL + axis, k * dilation, k * dilation + span, stride)]
        )
        for k in range(window.kernel[axis])
    ]
    return chain("Max", slices) if len(slices) > 1 else slices[0]


def _least(value: ir.Value) -> np.ndarray:
    """Return what no element of the tensor is below."""
    assert value.dtype is not None  # noqa: S101, `_why_not` saw to it
    dtype = value.dtype.numpy()
    whole = np.issubdtype(dtype, np.integer)
    return np.array(np.iinfo(dtype).min if whole else -np.inf, dtype)
