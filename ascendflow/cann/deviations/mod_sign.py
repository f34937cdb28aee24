"""Mod of whole numbers: the remainder has the sign of the dividend, not of the divisor.

The parser ignores `fmod` (a warning says so), and `Mod` is the truncated remainder,
x - trunc(x / y) * y, as in C. AI Core computes int32 in fp32, so beyond 2**24 digits are
lost too; on Ascend310 it has no int32 kernel. int64 has none anywhere and goes to AI CPU,
to TensorFlow's `Mod`, which is documented as C's remainder.

Source: canndev `mod_plugin.cc`, 2022-06; ops-math `mod_onnx_plugin.cpp`, 8.5.0 to master;
8.1.RC1 `mod.py`, `dynamic/mod.py`, `aic-<soc>-ops-info.json`, `tf_kernel.json`.
"""

from __future__ import annotations

from typing import ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.integers import (
    SIGNED,
    UNSIGNED,
    bounds,
    is_exact,
    truncated_quotient,
    wide,
)
from ascendflow.graph.edit import Chain


class ModSign(NodeDeviation):
    """The truncated remainder in place of the floored one."""

    name: ClassVar[str] = "mod-sign"
    op_types: ClassVar[frozenset[str]] = frozenset({"Mod"})
    models_kernel: ClassVar[bool] = True
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "precision")
    onnx: ClassVar[str] = (
        "Without fmod the remainder of whole numbers has the sign of the divisor."
    )
    cann: ClassVar[str] = (
        "The remainder has the sign of the dividend, fmod or not. AI Core computes int32 "
        "in fp32, where numbers beyond 2**24 lose digits."
    )
    cure: ClassVar[str | None] = "mod-sign"
    source: ClassVar[str] = (
        "canndev mod_plugin.cc 2022-06; ops-math mod_onnx_plugin.cpp 8.5.0 to master; CANN "
        "8.1.RC1 mod.py, dynamic/mod.py, aic-<soc>-ops-info.json, tf_kernel.json"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "medium")
    """Parser and AI Core kernel were read in every version; AI CPU's is a binary."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look at the signs that the operands may have, then at their size."""
        dividend, divisor = node.inputs[0], node.inputs[1]
        dtype = None if dividend is None else dividend.dtype
        if dtype not in SIGNED | UNSIGNED:
            return Harmless("for floats fmod must be 1, which is what CANN computes")
        floored = not node.attributes.get_int("fmod", 0)
        if floored and (reason := _may_differ(dividend, divisor)) is not None:
            return Found(f"{reason}: the remainder then has the dividend's sign", "silent")
        if _runs_in_fp32(node, conditions) and not (
            is_exact(dividend) and is_exact(divisor)
        ):
            return Found(
                "computed in fp32, where int32 beyond 2**24 is inexact", "precision"
            )
        return Harmless(
            "operands never differ in sign, or fmod is 1; and none is too large"
        )

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Ask for C's remainder; in fp32 spell the kernel out."""
        if isinstance(self.detect(node, conditions), Harmless):
            return
        if not _runs_in_fp32(node, conditions):
            node.attributes.add(ir.AttrInt64("fmod", 1))
            return
        chain = Chain(node)
        x, y = wide(chain, node.inputs[0]), wide(chain, node.inputs[1])
        product = chain("Mul", [truncated_quotient(chain, x, y), y])
        rest = chain("Sub", [x, product])
        chain("Cast", [rest], {"to": ir.DataType.INT32})
        chain.put_in_place()


def _runs_in_fp32(node: ir.Node, conditions: Conditions) -> bool:
    value = node.inputs[0]
    is_int32 = value is not None and value.dtype == ir.DataType.INT32
    return is_int32 and conditions.soc.int32_by_fp32


def _may_differ(dividend: ir.Value | None, divisor: ir.Value | None) -> str | None:
    """Say how the operands' signs may differ, or return None where they cannot."""
    lows_highs = bounds(dividend), bounds(divisor)
    if all(low >= 0 for low, _ in lows_highs) or all(high <= 0 for _, high in lows_highs):
        return None
    ((low, _), (divisor_low, _)) = lows_highs
    return (
        "the dividend may be negative"
        if low < 0 <= divisor_low
        else ("dividend and divisor may differ in sign")
    )
