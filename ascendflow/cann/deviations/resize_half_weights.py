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

from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.cann.deviations.deviation import (
    Conditions,
    Deviation,
    add_constant,
    put_in_place,
)
from ascendflow.cann.resizing import Resizing, read
from ascendflow.cann.sampling import Sampling, cann_linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ascendflow.documents.conversion import Confidence


class ResizeHalfWeights(Deviation):
    """Interpolation weights rounded to fp16, on 310P."""

    name: ClassVar[str] = "resize-half-weights"
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "CANN 8.1.RC1 resize_bilinear_v2.py, Ascend310P3.ini; canndev "
        "op_tiling/resize_bilinear_v2.cc"
    )

    def confidence(self, conditions: Conditions) -> Confidence:  # noqa: ARG002
        """The weights were read in source; how `vbi` adds up was not."""
        return "medium"

    def difference(self, node: ir.Node, conditions: Conditions) -> str | None:
        """Return None unless some product of weights is no fp16 number."""
        resizing = _in_default_tiling(node, conditions)
        if resizing is None:
            return None
        weights = _weights(resizing)
        off = max(float(np.abs(w - w.astype(np.float16)).max()) for w in weights.values())
        return f"weights are off by up to {off:.2g}" if off else None

    def lower(self, node: ir.Node, conditions: Conditions) -> None:
        """Spell the interpolation out: four gathered corners, times weights, added up."""
        if self.difference(node, conditions) is None:
            return
        resizing = _in_default_tiling(node, conditions)
        assert resizing is not None  # noqa: S101, there is a difference
        put_in_place(node, _spelled_out(node, resizing))


def _in_default_tiling(node: ir.Node, conditions: Conditions) -> Resizing | None:
    """Return how `node` resizes if fp16 `vbi` does it, else None."""
    if conditions.soc.family != "ascend310p" or not conditions.half:
        return None
    resizing = read(node)
    if not isinstance(resizing, Resizing) or not resizing.linear:
        return None
    pairs = [(axis.length_in, axis.length_out) for axis in resizing.axes]
    if all(a == b for a, b in pairs) or all(a == 1 for a, _ in pairs):
        return None  # tiling 999999: a copy
    batch, channels = resizing.output_shape[:2]
    small = all(length < 64 for pair in pairs for length in pair)
    if small and batch * -(-channels // 16) >= 32:
        return None  # tiling 100110: fp32 weights
    return resizing


def _corners(resizing: Resizing, axis: int) -> tuple[NDArray[np.int64], ...]:
    """Return the lower and the upper index along H (0) or W (1)."""
    lengths = resizing.axes[axis]
    x = cann_linear(_sampling(resizing), lengths.length_in, lengths.length_out)
    low = np.floor(x).astype(np.int64)
    return low, np.minimum(low + 1, lengths.length_in - 1)


def _weights(resizing: Resizing) -> dict[tuple[int, int], NDArray[np.float32]]:
    """Return the fp32 products of weights, H x W, by corner (0 lower, 1 upper)."""
    along = []
    for axis in resizing.axes:
        x = cann_linear(_sampling(resizing), axis.length_in, axis.length_out)
        upper = x - np.floor(x)
        along.append((np.float32(1) - upper, upper))
    return {
        (row, column): along[0][row][:, None] * along[1][column][None, :]
        for row, column in product((0, 1), repeat=2)
    }


def _sampling(resizing: Resizing) -> Sampling:
    """Return the kernel's flags of a node that ResizeSampling has already lowered."""
    return Sampling(resizing.onnx_mode)


def _spelled_out(node: ir.Node, resizing: Resizing) -> list[ir.Node]:
    output = node.outputs[0].name
    nodes: list[ir.Node] = []

    def call(
        op_type: str, role: str, inputs: list[ir.Value | None], **axis: int
    ) -> ir.Value:
        attributes = [ir.AttrInt64(name, number) for name, number in axis.items()]
        nodes.append(ir.Node("", op_type, inputs, attributes, name=f"{node.name}/{role}"))
        value = nodes[-1].outputs[0]
        value.name = f"{output}/{role}"
        return value

    rows, columns = _corners(resizing, 0), _corners(resizing, 1)
    total: ir.Value | None = None
    for (row, column), weight in _weights(resizing).items():
        corner = f"corner{row}{column}"
        taken = call(
            "Gather",
            f"{corner}/rows",
            [node.inputs[0], add_constant(node, f"{corner}/row_indices", rows[row])],
            axis=2,
        )
        indices = add_constant(node, f"{corner}/column_indices", columns[column])
        taken = call("Gather", f"{corner}/columns", [taken, indices], axis=3)
        rounded = weight.astype(np.float16).astype(np.float32)
        scaled = call(
            "Mul", f"{corner}/weighted", [taken, add_constant(node, corner, rounded)]
        )
        total = scaled if total is None else call("Add", f"{corner}/sum", [total, scaled])
    return nodes
