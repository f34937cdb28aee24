"""Resize and Upsample as CANN computes them, in ONNX: what all their deviations share.

1. The parser turns coordinate_transformation_mode into two flags (`cann.sampling`).
2. The kernel computes its own scale, length_in / length_out; `scales` only give the
   size, trunc(length_in * scale). With half-pixel sampling and output length 1 it reads
   the centre, where ONNX's `pytorch_half_pixel` reads index 0.
3. nearest: floor(i * s), floor((i + 0.5) * s) or round(i * s_ac), whatever
   `nearest_mode` says.
4. Not read either: roi, antialias, extrapolation_value, keep_aspect_ratio_policy.

Each deviation names one of these; all are computed at once here.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ascendflow.cann.resizing import Resizing, read_as_cann
from ascendflow.cann.sampling import cann_linear, cann_nearest
from ascendflow.graph.edit import Chain
from ascendflow.graph.opset_spelling import Cut, sliced
from ascendflow.graph.resize_node import MODE

if TYPE_CHECKING:
    import onnx_ir as ir
    from numpy.typing import NDArray

    from ascendflow.cann.deviations.deviation import Conditions

    Weights = dict[tuple[int, int], NDArray[np.float32]]


def lower(node: ir.Node, conditions: Conditions) -> None:
    """Put in `node`'s place what CANN computes for it.

    Linear becomes a Resize whose attributes say so in ONNX, or where no attribute could
    (before opset 11) four gathered corners; nearest becomes two Gathers.
    """
    resizing = read_as_cann(node, conditions)
    assert isinstance(resizing, Resizing)  # noqa: S101, `detect` comes first
    if not resizing.linear:
        _lower_nearest(node, resizing, half_away=conditions.soc.rounds_half_away)
    elif resizing.onnx.has_mode:
        _respell(node, resizing)
    else:
        spell_out(node, resizing, weights(resizing))


def _respell(node: ir.Node, resizing: Resizing) -> None:
    chain = Chain(node)
    # There roi and scales may be empty, but not absent.
    empty = resizing.onnx.opset < 13
    nothing = chain.constant("nothing", np.zeros(0, np.float32)) if empty else None
    sizes = _sizes(node, resizing, chain)
    # `half_pixel`, not `pytorch_half_pixel`: at length 1 CANN reads the centre.
    attributes = {"mode": "linear", MODE: resizing.sampling.value}
    chain("Resize", [node.inputs[0], nothing, nothing, sizes], attributes)
    chain.put_in_place()


def _sizes(node: ir.Node, resizing: Resizing, chain: Chain) -> ir.Value:
    """Return N, C, H, W; an N or C of open length is the input's own."""
    value, shape = node.inputs[0], resizing.output_shape
    if not resizing.onnx.open_axes:
        return chain.constant("sizes", np.array(shape, np.int64))
    picture = chain.constant("sizes", np.array(shape[2:], np.int64))
    own = sliced(chain, chain("Shape", [value]), [Cut(0, 0, 2)])
    return chain("Concat", [own, picture], {"axis": 0})


def _lower_nearest(node: ir.Node, resizing: Resizing, *, half_away: bool) -> None:
    """Take rows, then columns, at indices computed here in CANN's own arithmetic."""
    chain = Chain(node)
    value = node.inputs[0]
    for axis, lengths in enumerate(resizing.lengths, start=2):
        indices = cann_nearest(resizing.sampling, *lengths, half_away=half_away)
        constant = chain.constant(f"indices_{axis}", indices)
        value = chain("Gather", [value, constant], {"axis": axis})
    chain.put_in_place()


def _corners(resizing: Resizing, axis: int) -> tuple[NDArray[np.int64], ...]:
    """Return the lower and the upper index along H (0) or W (1)."""
    lengths = resizing.lengths[axis]
    low = np.floor(cann_linear(resizing.sampling, *lengths)).astype(np.int64)
    return low, np.minimum(low + 1, lengths[0] - 1)


def weights(resizing: Resizing) -> Weights:
    """Return the fp32 products of weights, H x W, by corner (0 lower, 1 upper)."""
    along = []
    for lengths in resizing.lengths:
        x = cann_linear(resizing.sampling, *lengths)
        upper = x - np.floor(x)
        along.append((np.float32(1) - upper, upper))
    return {
        (row, column): along[0][row][:, None] * along[1][column][None, :]
        for row, column in product((0, 1), repeat=2)
    }


def spell_out(node: ir.Node, resizing: Resizing, corner_weights: Weights) -> None:
    """Put four gathered corners, times weights, added up, in `node`'s place."""
    chain = Chain(node)
    rows, columns = _corners(resizing, 0), _corners(resizing, 1)
    total: ir.Value | None = None
    for (row, column), weight in corner_weights.items():
        corner = f"corner{row}{column}"
        indices = chain.constant(f"{corner}/row_indices", rows[row])
        taken = chain("Gather", [node.inputs[0], indices], {"axis": 2})
        indices = chain.constant(f"{corner}/column_indices", columns[column])
        taken = chain("Gather", [taken, indices], {"axis": 3})
        scaled = chain("Mul", [taken, chain.constant(corner, weight)])
        total = scaled if total is None else chain("Add", [total, scaled])
    chain.put_in_place()
