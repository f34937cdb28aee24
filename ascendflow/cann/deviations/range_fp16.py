"""Operators whose outcome hangs on numbers that fp16 does not hold.

Where tensors are stored as fp16, a SoC that saturates has no infinity and no NaN: they are
+-65504 and 0. So IsInf and IsNaN find none, and the least of nothing is 65504. Where fp16
has infinities, IsInf finds one for each number from 65520 on.

A product grows with every factor: eight of 4 are 65536. Sums grow slower, and what other
operators give depends on the data alone, of which a graph says nothing.

Sources: as for overflow (`ascendflow/cann/soc.py`); IEEE 754 rounding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.soc import OVERFLOW_SOURCE
from ascendflow.graph.nodes import static_shape
from ascendflow.graph.reductions import reduced_axes, reduced_lengths
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    from ascendflow.documents.conversion import Confidence

_TESTS = frozenset({"IsInf", "IsNaN"})
_OF_NOTHING = {
    "ReduceLogSum": "-65504",
    "ReduceLogSumExp": "-65504",
    "ReduceMax": "-65504",
    "ReduceMin": "65504",
}
"""Reductions that give an infinity where there is nothing to reduce."""
_SUMS = frozenset({"ReduceL1", "ReduceL2", "ReduceSum", "ReduceSumSquare"})
"""Reductions that give 0 then."""
_FEW_FACTORS = 8


class RangeHalf(NodeDeviation):
    """A node that tells large numbers or infinities from others, or makes them."""

    name: ClassVar[str] = "range-fp16"
    op_types: ClassVar[frozenset[str]] = frozenset(
        {*_TESTS, *_OF_NOTHING, "Log", "ReduceProd"}
    )
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = (
        "fp32 holds infinities, NaN and numbers up to 3.4e38; IsInf and IsNaN find them, "
        "and the least of nothing is infinite."
    )
    cann: ClassVar[str] = (
        "In fp16 numbers end at 65504. Most SoCs saturate: no infinity and no NaN is left "
        "to be found or given. On 910B and 910_93 what is larger is infinite."
    )
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = (
        "keep the node in fp32, by another precision mode or `keep_dtype`"
    )
    source: ClassVar[str] = OVERFLOW_SOURCE

    def confidence(self, conditions: Conditions) -> Confidence:
        """How the SoC overflows is sourced; whether the data gets there is not known."""
        return conditions.soc.overflow_confidence

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Ask by operator what the node makes of numbers beyond the range."""
        if not conditions.half:
            return Harmless("the kernel gets fp32")
        if conditions.soc.overflow == "saturate":
            return _where_it_saturates(node)
        value = node.inputs[0]
        if value is not None and value.dtype == ir.DataType.FLOAT16:
            return Harmless("its input is fp16 in ONNX too")
        if node.op_type == "IsInf":
            return Found("numbers from 65520 on are infinite in fp16", "precision")
        if node.op_type == "ReduceProd":
            return _product(node)
        return Harmless("fp16 holds infinities and NaN")


def _where_it_saturates(node: ir.Node) -> Detection:
    if node.op_type in _TESTS:
        return Found("what it looks for is 65504, -65504 or 0 in fp16", "precision")
    if node.op_type == "ReduceProd":
        return _product(node)
    return _of_nothing(node)


def _product(node: ir.Node) -> Detection:
    factors = _factors(node)
    if factors is None:
        return Found("a product of who knows how many factors", "precision")
    if factors < _FEW_FACTORS:
        return Harmless(f"a product of {factors}, fewer than {_FEW_FACTORS} factors")
    size = HALF_MAX ** (1 / factors)
    return Found(
        f"a product of {factors} factors leaves fp16's range where they are {size:.3g} "
        "on average",
        "precision",
    )


def _factors(node: ir.Node) -> int | None:
    """Return how many elements each product is of; shapes tell where axes are fed."""
    axes = reduced_axes(node)
    if axes is not None:
        lengths = reduced_lengths(node, axes)
        known = [length for length in lengths if isinstance(length, int)]
        return math.prod(known) if len(known) == len(lengths) else None
    data, result = (static_shape(each) for each in (node.inputs[0], node.outputs[0]))
    if data is None or result is None:
        return None
    return math.prod(data) // max(math.prod(result), 1)


def _of_nothing(node: ir.Node) -> Detection:
    reduction: ir.Node | None = node
    if node.op_type == "Log":
        value = node.inputs[0]
        reduction = None if value is None else value.producer()
        if reduction is None or reduction.op_type not in _SUMS:
            return Harmless("that it is asked for the logarithm of 0 is not known")
    if reduction is None or not _reduces_nothing(reduction):
        return Harmless("there is something to reduce")
    result = _OF_NOTHING.get(node.op_type, "-65504")
    return Found(f"of nothing it gives {result}, which is infinite in ONNX", "precision")


def _reduces_nothing(node: ir.Node) -> bool:
    """Whether the input has no elements, and the output has, as far as is known."""
    data, result = node.inputs[0], node.outputs[0]
    if data is None or data.shape is None or 0 not in tuple(data.shape):
        return False
    return result.shape is None or 0 not in tuple(result.shape)
