"""Div of int32: computed in fp32.

The parser makes it RealDiv, whose kernel casts int32 to fp32, divides and casts back,
dropping the fraction. Up to 2**24 that is exact. On Ascend310 RealDiv lists fp16 and fp32
only; what becomes of int32 there was read nowhere. int64 goes to AI CPU, where no other
result than ONNX's is known.

Source: canndev `div_plugin.cc`, `real_div.py`, 2022-06; 8.1.RC1 `real_div.py`,
`aic-<soc>-ops-info.json`.
"""

from __future__ import annotations

from typing import ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.integers import is_exact, truncated_quotient, wide
from ascendflow.graph.edit import Chain


class IntDiv(NodeDeviation):
    """int32 divided in fp32."""

    name: ClassVar[str] = "int-div"
    op_types: ClassVar[frozenset[str]] = frozenset({"Div"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision", "unknown")
    onnx: ClassVar[str] = "Whole numbers are divided exactly, and the fraction is dropped."
    cann: ClassVar[str] = (
        "int32 is divided in fp32, where numbers beyond 2**24 lose digits; on Ascend310 "
        "the kernel has no int32."
    )
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "canndev div_plugin.cc, real_div.py 2022-06; CANN 8.1.RC1 real_div.py, "
        "aic-<soc>-ops-info.json"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "medium")
    """The kernel was read; that AI Core gets the node follows from it."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find int32 that may pass 2**24."""
        dividend, divisor = node.inputs[0], node.inputs[1]
        if dividend is None or dividend.dtype != ir.DataType.INT32:
            return Harmless("not int32")
        if not conditions.soc.int32_by_fp32:
            family = conditions.soc.family
            return Found(f"RealDiv of {family} has no int32 kernel", "unknown")
        if is_exact(dividend) and is_exact(divisor):
            return Harmless("both operands stay within 2**24, where fp32 is exact")
        return Found("divided in fp32, where int32 beyond 2**24 is inexact", "precision")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Divide in fp32 and drop the fraction."""
        if isinstance(self.detect(node, conditions), Harmless):
            return
        chain = Chain(node)
        x, y = wide(chain, node.inputs[0]), wide(chain, node.inputs[1])
        quotient = truncated_quotient(chain, x, y)
        chain("Cast", [quotient], {"to": ir.DataType.INT32})
        chain.put_in_place()
