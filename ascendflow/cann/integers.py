"""Whole numbers on the target: what is known of them, and how fp32 kernels divide them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from ascendflow.graph.nodes import constant, static_shape

if TYPE_CHECKING:
    from ascendflow.graph.edit import Chain

EXACT = 2**24
"""Up to this magnitude fp32 holds every whole number."""

SIGNED = frozenset(
    {ir.DataType.INT8, ir.DataType.INT16, ir.DataType.INT32, ir.DataType.INT64}
)
UNSIGNED = frozenset(
    {ir.DataType.UINT8, ir.DataType.UINT16, ir.DataType.UINT32, ir.DataType.UINT64}
)

_NEVER_NEGATIVE = frozenset({"ArgMax", "ArgMin", "NonZero", "Shape", "Size"})


def bounds(value: ir.Value | None) -> tuple[int, int]:
    """Return what the elements of a tensor of whole numbers lie between.

    Known are the values of constants, the lengths behind an index from ArgMax or ArgMin,
    and what the type holds.
    """
    if (known := constant(value)) is not None and known.size:
        return int(known.min()), int(known.max())
    assert value is not None  # noqa: S101, inputs of integer operators are not optional
    dtype = value.dtype
    low, high = -(2**63), 2**63 - 1
    if dtype is not None and dtype in SIGNED | UNSIGNED:
        limits = np.iinfo(dtype.numpy())
        low, high = int(limits.min), int(limits.max)
    maker = value.producer()
    if maker is not None and maker.op_type in _NEVER_NEGATIVE:
        low = 0
        if maker.op_type in {"ArgMax", "ArgMin"}:
            shape = static_shape(maker.inputs[0])
            axis = maker.attributes.get_int("axis", 0)
            if shape is not None and -len(shape) <= axis < len(shape) and shape[axis] > 0:
                high = shape[axis] - 1
    return low, high


def is_exact(value: ir.Value | None) -> bool:
    """Return whether every element is surely a number that fp32 holds."""
    low, high = bounds(value)
    return low >= -EXACT and high <= EXACT


def wide(chain: Chain, value: ir.Value | None) -> ir.Value:
    """Cast to fp32."""
    return chain("Cast", [value], {"to": ir.DataType.FLOAT})


def truncated_quotient(chain: Chain, dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    """Divide two fp32 tensors and drop the fraction, all in fp32."""
    quotient = chain("Div", [dividend, divisor])
    size = chain("Floor", [chain("Abs", [quotient])])
    return chain("Mul", [chain("Sign", [quotient]), size])
