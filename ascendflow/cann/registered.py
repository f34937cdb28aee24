"""Which ONNX operators CANN's parser has a plugin for, by opset.

The parser looks a node up by `domain::opset of the model::operator`, so an operator that
did not change since opset 11 still needs a registration for 17. Read: all strings
`ai.onnx::<opset>::<operator>` in canndev's `onnx_plugin` folder (2022-06), and in ops-nn,
ops-cv and ops-math 8.5.0, 9.0.0, 9.1.0 and master. The releases of the open repositories
are not whole (none has Conv), so absence there proves something only where canndev and
master agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ascendflow.cann.profile import Profile

Registration = Literal["registered", "absent", "unknown"]

_ALWAYS = frozenset(
    {
        "Abs", "Acos", "Acosh", "Add", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan",
        "Atanh", "AveragePool", "BatchNormalization", "BitShift", "Cast", "Ceil", "Celu",
        "Clip", "Compress", "Concat", "Constant", "ConstantOfShape", "Conv",
        "ConvTranspose", "Cos", "Cosh", "CumSum", "DepthToSpace", "Det", "Div", "Dropout",
        "Einsum", "Elu", "Equal", "Erf", "Exp", "Expand", "EyeLike", "Flatten", "Floor",
        "GRU", "Gather", "GatherElements", "GatherND", "Gemm", "GlobalAveragePool",
        "GlobalLpPool", "GlobalMaxPool", "Greater", "GreaterOrEqual", "HardSigmoid",
        "HardSwish", "Hardmax", "Identity", "If", "InstanceNormalization", "IsInf", "IsNaN",
        "LRN", "LSTM", "LeakyRelu", "Less", "LessOrEqual", "Log", "LogSoftmax",
        "LpNormalization", "LpPool", "MatMul", "Max", "MaxPool", "MaxRoiPool", "MaxUnpool",
        "Mean", "MeanVarianceNormalization", "Min", "Mod", "Mul", "Multinomial", "Neg",
        "NonMaxSuppression", "NonZero", "Not", "OneHot", "Or", "PRelu", "Pad", "Pow",
        "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Range",
        "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
        "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
        "ReduceSumSquare", "Relu", "Reshape", "Resize", "ReverseSequence", "RoiAlign",
        "Round", "Scatter", "ScatterElements", "ScatterND", "Selu", "Shape", "Shrink",
        "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Slice", "Softmax",
        "SoftmaxCrossEntropyLoss", "Softplus", "Softsign", "SpaceToDepth", "Split", "Sqrt",
        "Squeeze", "Sub", "Sum", "Tan", "Tanh", "ThresholdedRelu", "Tile", "TopK",
        "Transpose", "Trilu", "Unsqueeze", "Upsample", "Where", "Xor",
    }
)  # fmt: skip
"""In canndev and in ops-* master, in every opset that has them but for _GAPS."""

_SINCE_OPEN = frozenset(
    {
        "Bernoulli", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "CastLike",
        "Col2Im", "ConcatFromSequence", "GridSample", "Mish", "SequenceAt",
        "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
        "SequenceLength", "SplitToSequence", "Unique",
    }
)  # fmt: skip
"""Not in canndev, in the open repositories from 8.5.0 on."""

_ONE_END_ONLY = frozenset({"LayerNormalization", "TfIdfVectorizer"})
"""LayerNormalization: master only. TfIdfVectorizer: canndev only."""

_GAPS = frozenset({("MaxUnpool", 10), ("ReduceL1", 18), ("ReduceL2", 18)})
"""Opsets that the plugins of these operators leave out, wherever they are."""


def registration(op_type: str, opset: int, profile: Profile) -> Registration:
    """Say whether a CANN version has a plugin for an operator of ONNX's own domain.

    Args:
        op_type: the operator.
        opset: of the model, one of `profile.opsets`.
        profile: the CANN version.
    """
    if op_type in _ALWAYS:
        return "absent" if (op_type, opset) in _GAPS else "registered"
    if op_type in _SINCE_OPEN and not profile.is_read:
        return "registered" if profile.is_open else "unknown"
    if op_type in _ONE_END_ONLY and not profile.is_read:
        return "unknown"
    is_old = op_type == "TfIdfVectorizer" and profile.is_read
    return "registered" if is_old else "absent"
