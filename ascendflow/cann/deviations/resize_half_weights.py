"""Resize, linear, on Ascend310P: weights rounded to fp16.

With fp16 data the default tiling (key 100000) of ResizeBilinearV2 computes the four
products of weights in fp32, rounds them to fp16 and calls the fp16 `vbi` instruction.
Weights of dyadic ratios (2x, 4x, 8x) are exact in fp16, so nothing changes there. Two
tilings avoid it: 100110 (all of height and width, in and out, below 64, and N * C1 at
least 32, where C1 counts blocks of 16 channels) and 999999 (same size, or 1x1 input).

How `vbi` adds up is not documented; it is computed here in fp32 and rounded once.

Sources: 8.1.RC1 `resize_bilinear_v2.py` (_tiling_compute_default,
_function_default_vbi_fp16), `Ascend310P3.ini` (Intrinsic_vbi float16 only); canndev
`op_tiling/resize_bilinear_v2.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.deviations.resize_lowering import spell_out, weights
from ascendflow.cann.resizing import Resizing, read_as_cann
from ascendflow.graph.resize_node import OP_TYPES

if TYPE_CHECKING:
    import onnx_ir as ir


class ResizeHalfWeights(NodeDeviation):
    """Interpolation weights rounded to fp16, on 310P."""

    name: ClassVar[str] = "resize-half-weights"
    op_types: ClassVar[frozenset[str]] = OP_TYPES
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = "Weights have the type of the data, or a wider one."
    cann: ClassVar[str] = (
        "On 310P the four products of weights are rounded to fp16 where the data is fp16."
    )
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "CANN 8.1.RC1 resize_bilinear_v2.py, Ascend310P3.ini; canndev "
        "op_tiling/resize_bilinear_v2.cc"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "medium")
    """The weights were read in source; how `vbi` adds up was not."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find products of weights that are no fp16 numbers."""
        resizing = _in_default_tiling(node, conditions)
        if resizing is None:
            return Harmless("no fp16 weights: another SoC, type, mode or tiling")
        exact = weights(resizing).values()
        off = max(float(np.abs(w - w.astype(np.float16)).max()) for w in exact)
        if not off:
            return Harmless("all weights are fp16 numbers")
        opened = resizing.onnx.open_axes
        unless = ", if N and C are not many: one is open" if opened else ""
        return Found(f"weights are off by up to {off:.2g}{unless}", "precision")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Spell the interpolation out: four gathered corners, times weights, added up."""
        if isinstance(self.detect(node, conditions), Harmless):
            return
        resizing = _in_default_tiling(node, conditions)
        assert resizing is not None  # noqa: S101, it was found
        rounded = {
            corner: weight.astype(np.float16).astype(np.float32)
            for corner, weight in weights(resizing).items()
        }
        spell_out(node, resizing, rounded)


def _in_default_tiling(node: ir.Node, conditions: Conditions) -> Resizing | None:
    """Return how `node` resizes if fp16 `vbi` does it, else None."""
    if conditions.soc.family != "ascend310p" or not conditions.half:
        return None
    resizing = read_as_cann(node, conditions)
    if not isinstance(resizing, Resizing) or not resizing.linear:
        return None
    pairs = resizing.lengths
    if all(a == b for a, b in pairs) or all(a == 1 for a, _ in pairs):
        return None  # tiling 999999: a copy
    batch, channels = resizing.output_shape[:2]
    small = all(length < 64 for pair in pairs for length in pair)
    if small and batch * -(-channels // 16) >= 32:
        return None  # tiling 100110: fp32 weights
    return resizing
