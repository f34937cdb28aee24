"""Reductions: which there are, and what their axes are."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ascendflow.graph.nodes import constant, static_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

NOOP = "noop_with_empty_axes"

REDUCTIONS = frozenset(
    {
        "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
        "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
    }
)  # fmt: skip


class Axes(Enum):
    """What a reduction's axes are."""

    ABSENT = "no axes input, and no attribute"
    EMPTY = "an empty list"
    SOME = "at least one axis"
    UNKNOWN = "an input whose length is not known"


def reads_axes(node: ir.Node) -> Axes:
    """Return what the axes of a reduction are, given as input or as attribute."""
    if "axes" in node.attributes:
        return Axes.SOME if len(node.attributes["axes"].as_ints()) else Axes.EMPTY
    axes = node.inputs[1] if len(node.inputs) > 1 else None
    if axes is None:
        return Axes.ABSENT
    known = constant(axes)
    shape = (known.size,) if known is not None else static_shape(axes)
    if shape is None or shape[0] < 0:
        return Axes.UNKNOWN
    return Axes.SOME if shape[0] else Axes.EMPTY


def reduced_axes(node: ir.Node) -> list[int] | None:
    """Return the axes over which a reduction or a GlobalAveragePool runs.

    Returns:
        Counted from 0 and ascending; [] where nothing is reduced; None where the
        axes are no constant, the input's rank is not known, or an axis is beyond it.
    """
    data = node.inputs[0]
    if data is None or data.shape is None:
        return None
    rank = len(data.shape)
    if node.op_type == "GlobalAveragePool":
        return list(range(2, rank))
    kind = reads_axes(node)
    if kind in {Axes.ABSENT, Axes.EMPTY}:
        return [] if node.attributes.get_int(NOOP, 0) else list(range(rank))
    given = node.attributes.get_ints("axes", None)
    if given is None:
        known = constant(node.inputs[1])
        if known is None:
            return None
        given = [int(axis) for axis in known.ravel()]
    if not all(-rank <= axis < rank for axis in given):
        return None
    return sorted({axis % rank for axis in given})


def reduced_lengths(node: ir.Node, axes: Sequence[int]) -> list[int | ir.SymbolicDim]:
    """Return the length of each of `axes`, which `reduced_axes` gave."""
    data = node.inputs[0]
    assert data is not None  # noqa: S101, its axes are known
    assert data.shape is not None  # noqa: S101
    return [data.shape[axis] for axis in axes]
