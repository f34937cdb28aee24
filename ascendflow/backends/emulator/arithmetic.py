"""What rounding to fp16 each operator needs, and why no more.

A tensor is *on the grid* when every element is an fp16 number. Every floating input of a
node that runs in fp16 is on the grid; on a SoC that saturates it is also finite.

* SELECTING operators give back elements that they were given, or 0, 1 and -1, or drop
  the fraction of one (an fp16 number of 2048 and more has none, below it every whole
  number is one). So their outputs are on the grid, and are not rounded again. The
  exception is the largest or smallest of nothing, which is infinite.
* BOUNDED operators give nothing larger in magnitude than 65504 for such inputs: means
  and interpolations with weights that sum to 1, functions with a smaller range, functions
  that do not exceed their argument. What fp32 adds to that, a few parts in a million,
  rounds back to 65504, since fp16 rounds up from 65520 only. So they are not clipped.
* FINITE operators cannot make a NaN from finite inputs: products of two fp16 numbers stay
  below 4.3e9 and fp32 holds 7.9e28 such terms; exp and 1/x give infinity at worst. So
  their outputs are not searched for NaN. Any operator that is not listed is searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.matrices import MATRIX_PRODUCTS
from ascendflow.graph.nodes import constant

if TYPE_CHECKING:
    import onnx_ir as ir

_SELECTING = frozenset(
    {
        "Abs", "Ceil", "Compress", "Concat", "DepthToSpace", "Dropout", "Expand", "Flatten",
        "Floor", "Gather", "GatherElements", "GatherND", "GlobalMaxPool", "Identity", "Max",
        "MaxPool", "Min", "Neg", "OneHot", "ReduceMax", "ReduceMin", "Relu", "Reshape",
        "ReverseSequence", "Round", "Sign", "Slice", "SpaceToDepth", "Split", "Squeeze",
        "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Where",
    }
)  # fmt: skip

_BOUNDED = frozenset(
    {
        "Atan", "AveragePool", "Cos", "Erf", "Gelu", "GlobalAveragePool", "HardSigmoid",
        "HardSwish", "Mish", "ReduceMean", "Sigmoid", "Sin", "Softmax", "Softplus",
        "Softsign", "Sqrt", "Tanh",
    }
)  # fmt: skip

_FINITE = (
    MATRIX_PRODUCTS
    | (_BOUNDED - {"Sqrt"})
    | {
        "Add", "Celu", "CumSum", "Elu", "Exp", "LeakyRelu", "LogSoftmax", "Mean", "Mul",
        "PRelu", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceSum", "ReduceSumSquare",
        "Selu", "Sub", "Sum", "ThresholdedRelu",
    }
)  # fmt: skip


def selects(node: ir.Node) -> bool:
    """Return whether outputs on the grid follow from inputs on the grid."""
    attributes, opset = node.attributes, node.version or 0
    match node.op_type:
        case "Clip":  # before opset 11 the bounds are attributes, not rounded
            return opset >= 11
        case "Pad":
            return opset >= 11 or attributes.get_float("value", 0.0) == 0.0
        case "Resize" | "Upsample":
            return attributes.get_string("mode", "nearest") == "nearest"
        case "ReduceMax" | "ReduceMin":
            shape = node.inputs[0].shape if node.inputs[0] is not None else None
            return shape is None or 0 not in tuple(shape)
        case "ScatterElements" | "ScatterND":
            return attributes.get_string("reduction", "none") == "none"
    return node.op_type in _SELECTING


def is_bounded(node: ir.Node) -> bool:
    """Return whether no output can leave fp16's range."""
    return node.op_type in _BOUNDED or _interpolates(node)


def is_finite(node: ir.Node) -> bool:
    """Return whether no output can be NaN for finite inputs."""
    match node.op_type:
        case "Div":
            divisor = constant(node.inputs[1])
            return divisor is not None and bool(divisor.all())
        case "Pow":
            power = constant(node.inputs[1])
            return power is not None and bool(
                ((power > 0) & (power == power.round())).all()
            )
        case "BatchNormalization":
            variance = constant(node.inputs[4])
            epsilon = node.attributes.get_float("epsilon", 1e-5)
            return variance is not None and bool((variance >= 0).all()) and epsilon > 0
    return node.op_type in _FINITE or _interpolates(node)


def _interpolates(node: ir.Node) -> bool:
    return node.op_type in {"Resize", "Upsample"} and not selects(node)
