"""ONNX operators and the GE operators that CANN's parser and passes make of them.

Only what was read in a source is named: the ONNX plugins of canndev (2022-06:
`onnx_plugin/*_plugin.cc`, `similar_opp_plugins.cc`), the same in ops-math, ops-nn and
ops-cv master, canndev's `const2attr_fusion_pass.cc`, which puts a `D` behind operators
whose axes are constant, and the passes in 8.1.RC1's fusion_config.json. Where a plugin
makes several operators, the one that computes is named. None means that it was not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.nodes import input_at

if TYPE_CHECKING:
    import onnx_ir as ir

_SAME_NAME = (
    "Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Cast", "Ceil", "Celu",
    "Cos", "Cosh", "DepthToSpace", "Dropout", "Einsum", "Elu", "Equal", "Erf", "Exp",
    "Expand", "Flatten", "Floor", "GatherElements", "Greater", "HardSigmoid", "HardSwish",
    "Identity", "LRN", "LeakyRelu", "Less", "Log", "Mish", "Mod", "Mul", "Neg", "PRelu",
    "Pow", "Range", "Reciprocal", "ReduceSum", "Relu", "Reshape", "ReverseSequence",
    "Round", "ScatterElements", "Selu", "Shape", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh",
    "Size", "Softplus", "Softsign", "SpaceToDepth", "Sqrt", "Squeeze", "Sub", "Tan", "Tanh",
    "Tile", "Transpose", "Unsqueeze",
)  # fmt: skip

_RENAMED = {
    **{name: name for name in _SAME_NAME},
    "And": "LogicalAnd",
    "ArgMax": "ArgMaxV2",
    "ArgMin": "ArgMin",
    "BatchNormalization": "BatchNorm",
    "Concat": "ConcatD",
    "CumSum": "CumsumD",
    "Det": "MatrixDeterminant",
    "Div": "RealDiv",
    "GRU": "DynamicGRUV2",
    "Gather": "GatherV2",
    "GatherND": "GatherNd",
    "Gemm": "MatMulV2",
    "GlobalAveragePool": "ReduceMeanD",
    "GreaterOrEqual": "GreaterEqual",
    "GridSample": "GridSampler2D",
    "Hardmax": "HardMax",
    "InstanceNormalization": "InstanceNorm",
    "IsNaN": "IsNan",
    "LSTM": "DynamicRNN",
    "LayerNormalization": "LayerNorm",
    "LessOrEqual": "LessEqual",
    "LogSoftmax": "LogSoftmaxV2",
    "MatMul": "BatchMatMulV2",
    "Max": "Maximum",
    "MeanVarianceNormalization": "MVNV2",
    "Min": "Minimum",
    "Not": "LogicalNot",
    "Or": "LogicalOr",
    "Pad": "PadV3",
    "ReduceSumSquare": "SquareSumV1",
    "RoiAlign": "ROIAlign",
    "ScatterND": "TensorScatterUpdate",
    "Softmax": "SoftmaxV2",
    "Split": "SplitD",
    "Sum": "AccumulateNV2",
    "TopK": "TopKV2",
    "Upsample": "Resize",
    "Where": "SelectV2",
}
_BY_RANK = {
    "AveragePool": ("AvgPoolV2", "AvgPool3D"),
    "Conv": ("Conv2D", "Conv3D"),
    "ConvTranspose": ("Conv2DTransposeD", "Conv3DTranspose"),
    "MaxPool": ("MaxPoolV3", "MaxPool3D"),
}
"""Of pictures (and of one dimension, which the plugins run as two), of volumes."""
_REDUCTIONS = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd")
_RESIZES = {"linear": "ResizeBilinearV2", "nearest": "ResizeNearestNeighborV2"}


def target_op(node: ir.Node) -> str | None:
    """Return the GE operator that `node` becomes, where a source gives it."""
    match node.op_type:
        case "Resize":
            return _RESIZES.get(node.attributes.get_string("mode", "nearest"))
        case "Clip":
            return _clip(node)
        case kind if kind in _BY_RANK:
            return _of_rank(node)
        case kind if kind in _REDUCTIONS:
            return f"{kind}D" if _has_constant_axes(node) else kind
    return _RENAMED.get(node.op_type)


def is_constant(value: ir.Value) -> bool:
    """Return whether the target has `value` as a constant; it is not read.

    An initializer that is an input too, which in ONNX is only the input's default, is one
    (GE `onnx_parser.cc` ParseInput); `graph.nodes.constant` takes ONNX's side.
    """
    producer = value.producer()
    return value.is_initializer() if producer is None else producer.op_type == "Constant"


def _of_rank(node: ir.Node) -> str | None:
    shape = node.inputs[0].shape if node.inputs and node.inputs[0] else None
    if shape is None or len(shape) not in {3, 4, 5}:
        return None
    flat, deep = _BY_RANK[node.op_type]
    return deep if len(shape) == 5 else flat


def _has_constant_axes(node: ir.Node) -> bool:
    """Axes are an attribute, or absent (all of them), or a constant second input."""
    axes = node.inputs[1] if len(node.inputs) > 1 else None
    return axes is None or is_constant(axes)


def _clip(node: ir.Node) -> str | None:
    """Both bounds: ClipByValue; one: Maximum or Minimum (from opset 11 on)."""
    if len(node.inputs) < 2 and (node.version or 11) < 11:
        return "ClipByValue"
    low, high = input_at(node, 1), input_at(node, 2)
    if low is not None and high is not None:
        return "ClipByValue"
    if low is not None:
        return "Maximum"
    return "Minimum" if high is not None else None
