"""Rounding to fp16: of arrays, and as nodes that a deviation puts into an fp32 graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    from ascendflow.cann.soc import Overflow
    from ascendflow.graph.edit import Chain


def round_to_half(array: np.ndarray, overflow: Overflow) -> np.ndarray:
    """Round to the nearest fp16 number, ties to even, kept in fp32.

    Beyond fp16's range: +-65504, and 0 for NaN, where the SoC saturates; else IEEE 754.
    """
    if overflow == "saturate":
        array = np.nan_to_num(np.clip(array, -HALF_MAX, HALF_MAX), nan=0.0)
    with np.errstate(over="ignore"):
        return array.astype(np.float16).astype(np.float32)


def stored(chain: Chain, value: ir.Value, overflow: Overflow) -> ir.Value:
    """Append the nodes that round `value`, which cannot be NaN, to fp16."""
    if overflow == "saturate":
        low, high = (
            chain.constant(role, np.array(bound, np.float32))
            for role, bound in (("lowest", -HALF_MAX), ("highest", HALF_MAX))
        )
        # Opset 8's Min and Max are alike in every later one; Clip is not.
        value = chain("Max", [chain("Min", [value, high]), low])
    half = chain("Cast", [value], {"to": ir.DataType.FLOAT16})
    return chain("Cast", [half], {"to": ir.DataType.FLOAT})
