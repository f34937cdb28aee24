"""Cast of int32 to 8 bits, and of fp32 to whole numbers on Ascend310: through fp16.

* int32 -> int8 rounds to fp16, adds 128, takes the remainder by 256 and subtracts 128, all
  in fp16: the C way up to about 2048, other low bits beyond.
* int32 -> uint8 does the same without the 128. After CANN 6.0, 310P, 910B and 910_93 cast
  directly, without the remainder; that out-of-range values saturate there is inferred.
* fp32 -> int32 or uint8 has no kernel on Ascend310. Cast may be reduced to fp16 where it
  has no fp32 kernel, and fp16 -> int32 it has: beyond 2048 whole numbers are lost, beyond
  65504 it saturates. With must_keep_origin_dtype nothing is reduced; AI CPU casts.

Source: canndev `dynamic/cast.py`, 2022-06; 8.1.RC1 `dynamic/cast.py`,
`tbe/dsl/compute/cast.py`, `Ascend310.ini`, `aic-ascend310-ops-info.json`; GE
`op_dtype_selection_strategy_allow_fp32_to_fp16.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.integers import bounds, wide
from ascendflow.cann.rounding import stored
from ascendflow.graph.edit import Chain

if TYPE_CHECKING:
    from ascendflow.documents.conversion import Confidence

_EXACT_IN_HALF = 2048
_OFFSET = {ir.DataType.INT8: 128, ir.DataType.UINT8: 0}
_DIRECT = frozenset({"ascend310p", "ascend910b", "ascend910_93"})
_THROUGH_HALF = frozenset({ir.DataType.INT32, ir.DataType.UINT8})


class CastNarrow(NodeDeviation):
    """Casts that go through fp16."""

    name: ClassVar[str] = "cast-narrow"
    op_types: ClassVar[frozenset[str]] = frozenset({"Cast"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "precision")
    onnx: ClassVar[str] = (
        "Whole numbers keep their low bits; from fp32 the fraction is dropped."
    )
    cann: ClassVar[str] = (
        "int32 to 8 bits goes through fp16, exact up to about 2048; on Ascend310 fp32 to "
        "int32 and uint8 does too, but for must_keep_origin_dtype."
    )
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "canndev dynamic/cast.py 2022-06; CANN 8.1.RC1 dynamic/cast.py, "
        "tbe/dsl/compute/cast.py, Ascend310.ini, aic-ascend310-ops-info.json; GE "
        "op_dtype_selection_strategy_allow_fp32_to_fp16.cc"
    )

    def confidence(self, conditions: Conditions) -> Confidence:
        """The kernels were read; how the direct cast of later SoCs saturates was not."""
        return "low" if _is_direct(conditions) else "medium"

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find types that go through fp16, and values that may not survive it."""
        source, to = node.inputs[0], node.attributes.get_int("to")
        dtype = None if source is None else source.dtype
        if dtype == ir.DataType.INT32 and to in _OFFSET:
            return _of_int32(source, ir.DataType(to), conditions)
        if dtype == ir.DataType.FLOAT and to in _THROUGH_HALF and _is_reduced(conditions):
            return Found(
                f"fp32 to {ir.DataType(to).name.lower()} goes through fp16 on ascend310: "
                "whole numbers beyond 2048 are rounded, beyond 65504 saturated",
                "precision",
            )
        return Harmless("no cast that goes through fp16 here")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Spell out what happens in fp16, every step of it."""
        if isinstance(self.detect(node, conditions), Harmless):
            return
        source, to = node.inputs[0], ir.DataType(node.attributes["to"].as_int())
        chain = Chain(node)
        assert source is not None  # noqa: S101, Cast has one input
        if source.dtype == ir.DataType.FLOAT:
            chain("Cast", [stored(chain, source, "saturate")], {"to": to})
        elif to == ir.DataType.UINT8 and _is_direct(conditions):
            high = chain.constant("high", np.array(255, np.float32))
            low = chain.constant("low", np.array(0, np.float32))
            within = chain("Min", [chain("Max", [wide(chain, source), low]), high])
            chain("Cast", [within], {"to": to})
        else:
            chain("Cast", [_remainder(chain, source, _OFFSET[to])], {"to": to})
        chain.put_in_place()


def _is_direct(conditions: Conditions) -> bool:
    return conditions.soc.family in _DIRECT and not conditions.profile.is_read


def _is_reduced(conditions: Conditions) -> bool:
    keeps = conditions.settings.mode == "must_keep_origin_dtype"
    return not conditions.soc.int32_by_fp32 and not keeps


def _of_int32(
    source: ir.Value | None, to: ir.DataType, conditions: Conditions
) -> Detection:
    low, high = bounds(source)
    name = to.name.lower()
    if to == ir.DataType.UINT8 and _is_direct(conditions):
        if low >= 0 and high <= np.iinfo(np.uint8).max:
            return Harmless("all values are within uint8")
        return Found("int32 beyond 0 to 255 saturates and does not wrap", "silent")
    offset = _OFFSET[to]
    if low >= -_EXACT_IN_HALF and high + offset <= _EXACT_IN_HALF:
        return Harmless(f"all values are within 2048, where fp16 keeps {name}'s bits")
    return Found(f"int32 to {name} goes through fp16, which rounds beyond 2048", "silent")


def _remainder(chain: Chain, source: ir.Value, offset: int) -> ir.Value:
    """(x + offset) mod 256 - offset; each step is rounded to fp16, x first."""
    add = chain.constant("offset", np.array(offset, np.float32))
    modulus = chain.constant("256", np.array(256, np.float32))
    x = stored(chain, wide(chain, source), "saturate")
    shifted = stored(chain, chain("Add", [x, add]), "saturate")
    turns = chain("Floor", [chain("Div", [shifted, modulus])])
    rest = chain("Sub", [shifted, chain("Mul", [turns, modulus])])
    return chain("Sub", [rest, add])
