"""What the axes of a reduction are, by ONNX's operator documents."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir
import pytest

from ascendflow.graph.reductions import reduced_axes, reduced_lengths


def reduction(
    axes: list[int] | None, op_type: str = "ReduceMean", rank: int | None = 3, **more: int
) -> ir.Node:
    attributes: dict[str, Any] = dict(more)
    if axes is not None:
        attributes["axes"] = axes
    lengths: list[int | str | None] = ["n", 3, 4, 5]
    x = ir.val("x", shape=None if rank is None else lengths[:rank])
    return ir.node(op_type, [x], attributes)


@pytest.mark.parametrize(
    ("node", "axes"),
    [
        (reduction([2, -3]), [0, 2]),
        (reduction([1, -2]), [1]),
        (reduction([1], noop_with_empty_axes=1), [1]),
        (reduction(None), [0, 1, 2]),
        (reduction([]), [0, 1, 2]),
        (reduction([], noop_with_empty_axes=1), []),
        (reduction(None, noop_with_empty_axes=1), []),
        (reduction(None, "GlobalAveragePool", 4), [2, 3]),
        (reduction([3]), None),
        (reduction([-4]), None),
        (reduction([0], rank=0), None),
        (reduction([0], rank=None), None),
    ],
)
def test_axes(node: ir.Node, axes: list[int] | None) -> None:
    assert reduced_axes(node) == axes


def test_axes_that_are_an_input_but_no_constant_are_not_known() -> None:
    x, axes = ir.val("x", shape=[2, 3]), ir.val("axes", shape=[1])

    assert reduced_axes(ir.node("ReduceSum", [x, axes])) is None


def test_lengths() -> None:
    node = reduction([0, 2])

    assert [str(n) for n in reduced_lengths(node, [0, 2])] == ["n", "4"]
