"""LRN with an even size -> Mul, Conv, Pow and Div.

ONNX's window of an even size reaches one channel further up than down. ATC up to 6.0
refuses it, and from 8.5 on drops the last channel. Written out, LRN is

    y = x / (bias + alpha / size * sum of squares) ** beta

and a sum over neighbouring channels is a 1x1 convolution with a band of ones. x is scaled
by the root of alpha / size before it is squared, so that squares stay in fp16's range.

Source: ONNX operator documents, LRN-13; canndev `lrn_plugin.cc`; ops-nn
`lrn_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class LrnEvenSize(Rule):
    """Spell LRN out where its window has no middle."""

    name: ClassVar[str] = "lrn-even-size"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"LRN"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one LRN."""
        size = node.attributes.get_int("size", 0)
        if size <= 0 or size % 2 == 1:
            yield Skipped(node, f"its size is {size}, not even")
            return
        value = node.inputs[0]
        shape = None if value is None else value.shape
        if (
            value is None
            or value.dtype is None
            or shape is None
            or len(shape) not in (3, 4)
        ):
            yield Skipped(node, "its input is not known to have one or two spatial axes")
            return
        channels = shape[1]
        if not isinstance(channels, int):
            yield Skipped(node, "its number of channels is not fixed")
            return
        _spell_out(node, value, size, channels, len(shape))
        yield Applied(node, {"size": size}, {"op_type": "Mul, Conv, Pow, Div"})


def _spell_out(node: ir.Node, x: ir.Value, size: int, channels: int, rank: int) -> None:
    chain, attributes = Chain(node), node.attributes
    assert x.dtype is not None  # noqa: S101, `apply` saw to it
    dtype = x.dtype.numpy()
    factor = attributes.get_float("alpha", 1e-4) / size
    scale = chain.constant("scale", np.array(abs(factor) ** 0.5, dtype))
    scaled = chain("Mul", [x, scale])
    squares = chain("Mul", [scaled, scaled])
    band = np.sign(factor) * _band(channels, size)
    weights = chain.constant(
        "band", band.reshape((channels, channels) + (1,) * (rank - 2)).astype(dtype)
    )
    bias = np.full(channels, attributes.get_float("bias", 1.0), dtype)
    kernel = {"kernel_shape": [1] * (rank - 2)}
    base = chain("Conv", [squares, weights, chain.constant("bias", bias)], kernel)
    beta = chain.constant("beta", np.array(attributes.get_float("beta", 0.75), dtype))
    chain("Div", [x, chain("Pow", [base, beta])])
    chain.put_in_place()


def _band(channels: int, size: int) -> np.ndarray:
    """Return ones where a column's channel counts for a row's."""
    offset = np.arange(channels)[None, :] - np.arange(channels)[:, None]
    return ((offset >= -((size - 1) // 2)) & (offset <= size // 2)).astype(np.float32)
