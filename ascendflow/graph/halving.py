"""Reductions spelled out: an axis is halved, and its halves combined, until one is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.opset_spelling import Cut, sliced

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx_ir as ir

    from ascendflow.graph.edit import Chain


def combined(
    chain: Chain, op_type: str, value: ir.Value, lengths: Mapping[int, int]
) -> ir.Value:
    """Append what combines all elements along some axes, which stay, of length 1.

    Args:
        chain: what is appended to; two Slices and one node for each halving, two more
            where the length was odd.
        op_type: an operator of two tensors that may be applied in any order.
        value: what to reduce.
        lengths: axis -> its length, at least 1.
    """
    for axis, length in lengths.items():
        value = _along(chain, op_type, value, axis, length)
    return value


def _along(chain: Chain, op_type: str, value: ir.Value, axis: int, length: int) -> ir.Value:
    odd: list[ir.Value] = []
    while length > 1:
        half = length // 2
        if length % 2:
            odd.append(sliced(chain, value, [Cut(axis, length - 1, length)]))
        halves = [
            sliced(chain, value, [Cut(axis, begin, begin + half)]) for begin in (0, half)
        ]
        value, length = chain(op_type, halves), half
    for each in odd:
        value = chain(op_type, [value, each])
    return value
