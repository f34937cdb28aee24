"""ReduceMean in fp16 on 310 and 310B: the sum is kept in fp16 too.

With fp16 data and the high_performance implementation, which is the default, these two
SoCs compute in fp16 throughout: x times fp16(1 / N) first, then the sum. Elsewhere, and
with high_precision, the sum is fp32. GlobalAveragePool is ReduceMeanD, and the same.

In which order the vector unit adds is not documented. Here it is one element after the
other, in the order of memory, each partial sum rounded: that is what adding up rows does,
and the worst that a sum along the last axis can be.

Sources: 8.1.RC1 `dynamic/reduce_mean.py` (get_calc_dtype), `dynamic/reduce_mean_d.py`,
`impl_mode/*.ini`.
"""

from __future__ import annotations

from math import prod
from typing import ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.operators import target_op
from ascendflow.cann.rounding import stored
from ascendflow.graph.edit import Chain
from ascendflow.graph.reductions import NOOP, reduced_axes, reduced_lengths
from ascendflow.vocabulary import HALF_MAX

_FAMILIES = frozenset({"ascend310", "ascend310b"})


class ReduceMeanFp16Acc(NodeDeviation):
    """Means that are added up in fp16."""

    name: ClassVar[str] = "reducemean-fp16-acc"
    op_types: ClassVar[frozenset[str]] = frozenset({"GlobalAveragePool", "ReduceMean"})
    models_kernel: ClassVar[bool] = True
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision", "unknown")
    onnx: ClassVar[str] = "The mean of the elements, however many there are."
    cann: ClassVar[str] = (
        "On 310 and 310B fp16 elements are multiplied by fp16(1 / N) and added up in fp16."
    )
    cure: ClassVar[str | None] = "split-mean"
    source: ClassVar[str] = (
        "CANN 8.1.RC1 dynamic/reduce_mean.py, dynamic/reduce_mean_d.py, impl_mode/*.ini"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "medium")
    """The types were read in source; the order of the additions is assumed."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find means over more than one element that are kept in fp16."""
        if conditions.soc.family not in _FAMILIES or not conditions.half:
            return Harmless("the sum is kept in fp32: another SoC, or fp32 data")
        operator = target_op(node) or node.op_type
        if conditions.settings.implementation(operator) != "high_performance":
            return Harmless("the high_precision implementation keeps the sum in fp32")
        axes = _axes(node)
        if axes is None:
            return Found("over how many axes it sums in fp16 is not fixed", "unknown")
        number = _number(node, axes)
        if number is None:
            return Found(
                "as many elements as its shape has are summed in fp16", "precision"
            )
        if number < 2:
            return Harmless("it sums nothing")
        return Found(f"{number} elements are summed in fp16", "precision")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Scale, bring the reduced axes to the front, and scan along them."""
        axes = _axes(node)
        if axes is None or not isinstance(self.detect(node, conditions), Found):
            return
        chain, x = Chain(node), node.inputs[0]
        assert x is not None  # noqa: S101, a mean has data
        assert x.shape is not None  # noqa: S101, its axes are known
        count = _count(chain, x, axes)
        factor = chain("Div", [chain.constant("1", np.float32(1)), _as_float(chain, count)])
        scaled = chain("Mul", [x, stored(chain, factor, conditions.soc.overflow)])
        scaled = stored(chain, scaled, conditions.soc.overflow)
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        rows = chain("Transpose", [scaled], {"perm": [*axes, *kept]})
        rest = chain.constant("rest", np.array([-1], np.int64))
        rows = chain("Reshape", [rows, chain("Concat", [count, rest], {"axis": 0})])
        first = chain("Gather", [rows, chain.constant("first", np.int64(0))], {"axis": 0})
        zeros = chain("Mul", [first, chain.constant("0", np.float32(0))])
        body = ir.AttrGraph("body", _addition(node))
        total = chain("Scan", [zeros, rows], {"body": body, "num_scan_inputs": 1})
        # What ONNX gives has the shape that is to be given here.
        golden = chain(node.op_type, list(node.inputs), dict(node.attributes))
        chain("Reshape", [total, chain("Shape", [golden])])
        chain.put_in_place()


def _number(node: ir.Node, axes: list[int]) -> int | None:
    """Return how many elements are summed, None where a length is not fixed."""
    lengths = reduced_lengths(node, axes)
    fixed = [length for length in lengths if isinstance(length, int)]
    return prod(fixed) if len(fixed) == len(lengths) else None


def _count(chain: Chain, x: ir.Value, axes: list[int]) -> ir.Value:
    """Append what counts the elements that are summed: int64, of one element."""
    reduced = chain.constant("axes", np.array(axes, np.int64))
    lengths = chain("Gather", [chain("Shape", [x]), reduced], {"axis": 0})
    flat = chain.constant("one", np.array([1], np.int64))
    # A product of one row; ReduceProd has its axes elsewhere from opset 18 on.
    product: ir.Value = flat
    for number in range(len(axes)):
        index = chain.constant(f"at{number}", np.array([number], np.int64))
        product = chain("Mul", [product, chain("Gather", [lengths, index], {"axis": 0})])
    return product


def _as_float(chain: Chain, count: ir.Value) -> ir.Value:
    return chain("Cast", [count], {"to": int(ir.DataType.FLOAT)})


def _axes(node: ir.Node) -> list[int] | None:
    """Return the axes that are reduced, ascending, or None where that is not fixed."""
    axes = reduced_axes(node)
    # Of a mean over nothing CANN makes one over all axes (reduce-noop).
    return axes if axes or not node.attributes.get_int(NOOP, 0) else None


def _addition(node: ir.Node) -> ir.Graph:
    """Make the body of the scan: the sum so far and one row give the next sum, in fp16."""
    float32 = ir.TensorType(ir.DataType.FLOAT)
    prefix = f"{node.outputs[0].name}/sum"
    lanes = ir.Shape([f"{prefix}/lanes"])
    before, row = (
        ir.Value(name=f"{prefix}/{name}", type=float32, shape=lanes)
        for name in ("so_far", "row")
    )
    highest = _scalar(f"{prefix}/highest", HALF_MAX)
    lowest = _scalar(f"{prefix}/lowest", -HALF_MAX)
    nodes = [ir.node("Add", [before, row])]
    nodes.append(ir.node("Min", [nodes[-1].outputs[0], highest]))
    nodes.append(ir.node("Max", [nodes[-1].outputs[0], lowest]))
    for dtype in (ir.DataType.FLOAT16, ir.DataType.FLOAT):
        nodes.append(ir.node("Cast", [nodes[-1].outputs[0]], {"to": int(dtype)}))
    for number, each in enumerate(nodes):
        each.name = each.outputs[0].name = f"{prefix}/{each.op_type}.{number}"
    nodes[-1].outputs[0].type, nodes[-1].outputs[0].shape = float32, lanes
    return ir.Graph(
        [before, row],
        [nodes[-1].outputs[0]],
        nodes=nodes,
        initializers=[highest, lowest],
        name=prefix,
        opset_imports={},
    )


def _scalar(name: str, number: float) -> ir.Value:
    tensor = ir.Tensor(np.array(number, np.float32), name=name)
    return ir.Value(
        name=name,
        type=ir.TensorType(ir.DataType.FLOAT),
        shape=ir.Shape([]),
        const_value=tensor,
    )
