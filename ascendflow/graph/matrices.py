"""How large what Conv, ConvTranspose, Gemm and MatMul give can be, by their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow import vocabulary
from ascendflow.graph.constants import single
from ascendflow.graph.nodes import input_at
from ascendflow.graph.uses import MOVING

if TYPE_CHECKING:
    import numpy as np
    import onnx_ir as ir

MATRIX_PRODUCTS = frozenset(vocabulary.MATRIX_PRODUCTS)
"""Operators of the matrix unit: fp16 operands, fp32 sums, one rounding at the output."""

_UNIT = frozenset({"Cos", "Erf", "HardSigmoid", "Sigmoid", "Sin", "Softmax", "Tanh"})
"""Operators that give nothing beyond +-1."""
_NO_LARGER = (MOVING - {"Concat"}) | {
    "AveragePool", "GlobalAveragePool", "LeakyRelu", "MaxPool", "Relu",
}  # fmt: skip
"""Operators that give nothing larger than their first input."""


def largest_sum(node: ir.Node, weights: np.ndarray) -> float:
    """Return the largest sum of |weights| that goes into one output element.

    An input with that many ones, signed as the weights are, gives it. ConvTranspose with
    strides adds up fewer, so for it this is a bound.
    """
    import numpy as np

    size = np.abs(weights)
    match node.op_type:
        case "Conv":  # M, C / group, kernel
            sums = size.reshape(len(size), -1).sum(axis=1)
        case "ConvTranspose":  # C, M / group, kernel; each group sums its own channels
            groups = node.attributes.get_int("group", 1)
            apart = size.reshape(groups, len(size) // groups, size.shape[1], -1)
            sums = apart.sum(axis=(1, 3))
        case "Gemm":
            transposed = node.attributes.get_int("transB", 0)
            alpha = abs(node.attributes.get_float("alpha", 1.0))
            sums = alpha * size.sum(axis=1 if transposed else 0)
        case _:
            sums = size.sum(axis=-2 if size.ndim > 1 else 0)
    return float(np.max(sums, initial=0.0))


def bound(value: ir.Value | None) -> float | None:
    """Return what no element of `value` exceeds in magnitude, where the graph says so."""
    while value is not None and (node := value.producer()) is not None:
        if node.op_type in _UNIT:
            return 1.0
        if node.op_type == "Clip":
            return _clip_bound(node)
        if node.op_type not in _NO_LARGER:
            return None
        value = node.inputs[0]
    return None


def _clip_bound(node: ir.Node) -> float | None:
    if "max" in node.attributes or "min" in node.attributes:
        low = node.attributes.get_float("min", -3.4e38)
        high = node.attributes.get_float("max", 3.4e38)
    else:
        lowest, highest = single(input_at(node, 1)), single(input_at(node, 2))
        if lowest is None or highest is None:
            return None
        low, high = lowest, highest
    return max(abs(low), abs(high))
