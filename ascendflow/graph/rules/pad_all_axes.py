"""Pad: pads of some axes -> pads of all.

Source: ONNX operator docs, Pad-18; canndev `pad_ops.h`, whose PadV3 has no input axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import add_constant
from ascendflow.graph.nodes import constant, input_at
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

_AXES = 3


class PadAllAxes(Rule):
    """Spell the axes that are not padded with zeros."""

    name: ClassVar[str] = "pad-all-axes"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Pad"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace the input pads and drop the input axes."""
        if input_at(node, _AXES) is None:
            yield Skipped(node, "it has no input axes")
            return
        pads, axes = constant(node.inputs[1]), constant(node.inputs[_AXES])
        x = node.inputs[0]
        if pads is None or axes is None:
            yield Skipped(node, "its pads or its axes are computed")
            return
        if x is None or x.shape is None:
            yield Skipped(node, "the rank of its input is unknown")
            return
        rank = len(x.shape)
        full = np.zeros((2, rank), np.int64)
        full[:, axes % rank] = pads.reshape(2, -1)
        node.replace_input_with(1, add_constant(node, "pads", full.ravel()))
        node.resize_inputs(_AXES if node.inputs[2] is not None else _AXES - 1)
        before = {"pads": pads.tolist(), "axes": axes.tolist()}
        yield Applied(node, before, {"pads": full.ravel().tolist()})
