"""The rules, in the order in which they are applied, whatever order a manifest has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.rules.arg_last_index import ArgLastIndex
from ascendflow.graph.rules.auto_pad_to_pads import AutoPadToPads
from ascendflow.graph.rules.cast_like_to_cast import CastLikeToCast
from ascendflow.graph.rules.ceil_mode_to_pads import CeilModeToPads
from ascendflow.graph.rules.clamp_constants import ClampConstants
from ascendflow.graph.rules.clamp_mask import ClampMask
from ascendflow.graph.rules.clip_unbounded import ClipUnbounded
from ascendflow.graph.rules.conv_attributes import ConvAttributes
from ascendflow.graph.rules.convtranspose_attributes import ConvTransposeAttributes
from ascendflow.graph.rules.dilated_maxpool import DilatedMaxPool
from ascendflow.graph.rules.drop_pool_indices import DropPoolIndices
from ascendflow.graph.rules.einsum_matmul import EinsumMatmul
from ascendflow.graph.rules.empty_slice import EmptySlice
from ascendflow.graph.rules.gather_non_negative import GatherNonNegative
from ascendflow.graph.rules.gathernd_flatten import GatherNDFlatten
from ascendflow.graph.rules.gelu_to_erf import GeluToErf
from ascendflow.graph.rules.gridsample_attributes import GridSampleAttributes
from ascendflow.graph.rules.group_norm_decompose import GroupNormDecompose
from ascendflow.graph.rules.gru_unrolled import GruUnrolled
from ascendflow.graph.rules.indices_to_int64 import IndicesToInt64
from ascendflow.graph.rules.int64_to_int32 import Int64ToInt32
from ascendflow.graph.rules.layer_norm_decompose import LayerNormDecompose
from ascendflow.graph.rules.logsoftmax_legacy import LogSoftmaxLegacy
from ascendflow.graph.rules.loop_unroll import LoopUnroll
from ascendflow.graph.rules.lrn_even_size import LrnEvenSize
from ascendflow.graph.rules.mish_decompose import MishDecompose
from ascendflow.graph.rules.mod_sign import ModSign
from ascendflow.graph.rules.onehot_compare import OneHotCompare
from ascendflow.graph.rules.pad_all_axes import PadAllAxes
from ascendflow.graph.rules.pow_to_mul import PowToMul
from ascendflow.graph.rules.pow_to_sqrt import PowToSqrt
from ascendflow.graph.rules.raise_epsilon import RaiseEpsilon
from ascendflow.graph.rules.reduce_axes_input import ReduceAxesInput
from ascendflow.graph.rules.reduce_noop import ReduceNoop
from ascendflow.graph.rules.reduce_norm_decompose import ReduceNormDecompose
from ascendflow.graph.rules.resize_half_pixel import ResizeHalfPixel
from ascendflow.graph.rules.resize_nearest_gather import ResizeNearestGather
from ascendflow.graph.rules.resize_to_matmul import ResizeToMatMul
from ascendflow.graph.rules.scale_conv import ScaleConv
from ascendflow.graph.rules.scale_rmsnorm import ScaleRmsnorm
from ascendflow.graph.rules.scatter_reduction import ScatterReduction
from ascendflow.graph.rules.softmax_legacy import SoftmaxLegacy
from ascendflow.graph.rules.split_big_avgpool import SplitBigAveragePool
from ascendflow.graph.rules.split_big_maxpool import SplitBigMaxPool
from ascendflow.graph.rules.split_mean import SplitMean
from ascendflow.graph.rules.unfuse_gelu import UnfuseGelu

if TYPE_CHECKING:
    from ascendflow.graph.rule import Rule

RULES: tuple[Rule, ...] = (
    LoopUnroll(),
    CastLikeToCast(),
    GeluToErf(),
    GroupNormDecompose(),
    LayerNormDecompose(),
    MishDecompose(),
    ReduceNormDecompose(),
    ResizeHalfPixel(),
    ResizeNearestGather(),
    ResizeToMatMul(),
    ClipUnbounded(),
    GridSampleAttributes(),
    GruUnrolled(),
    LogSoftmaxLegacy(),
    ModSign(),
    OneHotCompare(),
    ReduceAxesInput(),
    ReduceNoop(),
    SoftmaxLegacy(),
    ArgLastIndex(),
    EmptySlice(),
    GatherNonNegative(),
    GatherNDFlatten(),
    IndicesToInt64(),
    Int64ToInt32(),
    PadAllAxes(),
    ScatterReduction(),
    DropPoolIndices(),
    AutoPadToPads(),
    CeilModeToPads(),
    DilatedMaxPool(),
    SplitBigMaxPool(),
    SplitBigAveragePool(),
    LrnEvenSize(),
    ConvAttributes(),
    ConvTransposeAttributes(),
    ClampMask(),
    ClampConstants(),
    RaiseEpsilon(),
    EinsumMatmul(),
    PowToMul(),
    PowToSqrt(),
    UnfuseGelu(),
    SplitMean(),
    ScaleConv(),
    ScaleRmsnorm(),
)
