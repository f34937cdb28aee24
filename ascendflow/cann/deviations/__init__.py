"""The deviations, in the order in which the emulator applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.cann.deviations.arg_int32 import ArgInt32
from ascendflow.cann.deviations.arg_last_index import ArgLastIndex
from ascendflow.cann.deviations.avgpool3d_auto_pad import AveragePool3dAutoPad
from ascendflow.cann.deviations.avgpool_big_window import AveragePoolBigWindow
from ascendflow.cann.deviations.avgpool_ceil_mode import AveragePoolCeilMode
from ascendflow.cann.deviations.avgpool_sum_fp16 import AveragePoolSum
from ascendflow.cann.deviations.cast_narrow import CastNarrow
from ascendflow.cann.deviations.clip_unbounded import ClipUnbounded
from ascendflow.cann.deviations.const_overflow_fp16 import ConstOverflow
from ascendflow.cann.deviations.conv3d_auto_pad import Conv3dAutoPad
from ascendflow.cann.deviations.conv_attributes import ConvAttributes
from ascendflow.cann.deviations.conv_overflow import ConvOverflow
from ascendflow.cann.deviations.convtranspose_kernel_shape import ConvTransposeKernelShape
from ascendflow.cann.deviations.convtranspose_leaking_flags import ConvTransposeLeakingFlags
from ascendflow.cann.deviations.convtranspose_output_shape import ConvTransposeOutputShape
from ascendflow.cann.deviations.einsum_no_kernel import EinsumNoKernel
from ascendflow.cann.deviations.empty_slice import EmptySlice
from ascendflow.cann.deviations.eps_underflow_fp16 import EpsUnderflow
from ascendflow.cann.deviations.gathernd_batch import GatherNDBatch
from ascendflow.cann.deviations.gelu_tanh import GeluTanh
from ascendflow.cann.deviations.gridsample_attr import GridSampleAttr
from ascendflow.cann.deviations.gru_lbr0 import GruLbr0
from ascendflow.cann.deviations.gru_reverse import GruReverse
from ascendflow.cann.deviations.index_in_fp16 import IndexInHalf
from ascendflow.cann.deviations.int_div import IntDiv
from ascendflow.cann.deviations.kernel_dtype import KernelDtype
from ascendflow.cann.deviations.logsoftmax_legacy_axis import LogSoftmaxLegacyAxis
from ascendflow.cann.deviations.lppool import (
    LpPoolAutoPad,
    LpPoolCeilMode,
    LpPoolDilation,
    LpPoolOddPower,
)
from ascendflow.cann.deviations.lrn_even import LrnEven
from ascendflow.cann.deviations.mask_overflow_fp16 import MaskOverflow
from ascendflow.cann.deviations.maxpool_big_window import MaxPoolBigWindow
from ascendflow.cann.deviations.maxpool_ceil_window import MaxPoolCeilWindow
from ascendflow.cann.deviations.maxpool_dilation import MaxPoolDilation
from ascendflow.cann.deviations.mod_sign import ModSign
from ascendflow.cann.deviations.name_repeated import NameRepeated
from ascendflow.cann.deviations.negative_gather import NegativeGather
from ascendflow.cann.deviations.nms_in_graph import NmsInGraph
from ascendflow.cann.deviations.no_input import NoInput
from ascendflow.cann.deviations.not_emulated import NotEmulated
from ascendflow.cann.deviations.onehot_wrap import OneHotWrap
from ascendflow.cann.deviations.op_unregistered import (
    CastLikeUnregistered,
    GeluUnregistered,
    GroupNormalizationUnregistered,
    LayerNormalizationUnregistered,
    LoopUnregistered,
    MishUnregistered,
    OpUnregistered,
    ReduceNormUnregistered,
)
from ascendflow.cann.deviations.opset_imports import OpsetImports
from ascendflow.cann.deviations.opset_window import OpsetWindow
from ascendflow.cann.deviations.pad_axes import PadAxes
from ascendflow.cann.deviations.pool_fp16_only import PoolFp16Only
from ascendflow.cann.deviations.pool_indices import PoolIndices
from ascendflow.cann.deviations.pool_same_crops import LpPoolSameCrops, PoolSameCrops
from ascendflow.cann.deviations.pool_same_lower import PoolSameLower
from ascendflow.cann.deviations.pow_logarithm import PowLogarithm
from ascendflow.cann.deviations.pow_square import PowSquare
from ascendflow.cann.deviations.range_fp16 import RangeHalf
from ascendflow.cann.deviations.reduce_axes_input import ReduceAxesInput
from ascendflow.cann.deviations.reduce_noop import ReduceNoop
from ascendflow.cann.deviations.reducemean_fp16_acc import ReduceMeanFp16Acc
from ascendflow.cann.deviations.resize_half_pixel import ResizeHalfPixel, ResizeLengthOne
from ascendflow.cann.deviations.resize_half_weights import ResizeHalfWeights
from ascendflow.cann.deviations.resize_ignored_attr import ResizeIgnoredAttr, ResizeOwnScale
from ascendflow.cann.deviations.resize_nearest import ResizeNearestAttr, ResizeNearestTie
from ascendflow.cann.deviations.resize_not_computed import (
    ResizeCubic,
    ResizeLinearShape,
    ResizeNearestShape,
)
from ascendflow.cann.deviations.resize_unset_mode import (
    ResizeOpset10,
    UpsampleLinear,
    UpsampleNearest,
)
from ascendflow.cann.deviations.rnn_extra_attr import RnnExtraAttr
from ascendflow.cann.deviations.roialign_max import RoiAlignMax
from ascendflow.cann.deviations.round_310 import Round310
from ascendflow.cann.deviations.scatter_reduction import (
    ScatterElementsReduction,
    ScatterNDReduction,
)
from ascendflow.cann.deviations.sigmoid_fp16_steps import SigmoidFp16Steps
from ascendflow.cann.deviations.sigmoid_high_performance import SigmoidHighPerformance
from ascendflow.cann.deviations.softmax_legacy_axis import SoftmaxLegacyAxis
from ascendflow.cann.deviations.topk_int64 import TopKInt64

if TYPE_CHECKING:
    from ascendflow.cann.deviations.deviation import Deviation

DEVIATIONS: tuple[Deviation, ...] = (
    KernelDtype(),
    NotEmulated(),
    PoolFp16Only(),
    ReduceMeanFp16Acc(),
    OpsetWindow(),
    OpsetImports(),
    NoInput(),
    NameRepeated(),
    OpUnregistered(),
    LoopUnregistered(),
    LayerNormalizationUnregistered(),
    GroupNormalizationUnregistered(),
    GeluUnregistered(),
    MishUnregistered(),
    CastLikeUnregistered(),
    ReduceNormUnregistered(),
    ArgInt32(),
    ArgLastIndex(),
    CastNarrow(),
    EmptySlice(),
    GatherNDBatch(),
    NegativeGather(),
    NmsInGraph(),
    PadAxes(),
    ScatterElementsReduction(),
    ScatterNDReduction(),
    TopKInt64(),
    SigmoidHighPerformance(),
    SigmoidFp16Steps(),
    ResizeHalfWeights(),
    ClipUnbounded(),
    GridSampleAttr(),
    GruLbr0(),
    GruReverse(),
    IntDiv(),
    LogSoftmaxLegacyAxis(),
    ModSign(),
    OneHotWrap(),
    ReduceAxesInput(),
    ReduceNoop(),
    RnnExtraAttr(),
    RoiAlignMax(),
    Round310(),
    SoftmaxLegacyAxis(),
    PoolIndices(),
    MaxPoolBigWindow(),
    AveragePoolBigWindow(),
    AveragePool3dAutoPad(),
    AveragePoolSum(),
    AveragePoolCeilMode(),
    LpPoolCeilMode(),
    LpPoolAutoPad(),
    LpPoolDilation(),
    LpPoolOddPower(),
    LpPoolSameCrops(),
    PoolSameCrops(),
    MaxPoolCeilWindow(),
    MaxPoolDilation(),
    PoolSameLower(),
    LrnEven(),
    ConvAttributes(),
    Conv3dAutoPad(),
    ConvTransposeKernelShape(),
    ConvTransposeOutputShape(),
    ConvTransposeLeakingFlags(),
    ResizeHalfPixel(),
    ResizeLengthOne(),
    ResizeOwnScale(),
    ResizeIgnoredAttr(),
    ResizeNearestTie(),
    ResizeNearestAttr(),
    ResizeCubic(),
    ResizeLinearShape(),
    ResizeNearestShape(),
    ResizeOpset10(),
    UpsampleLinear(),
    UpsampleNearest(),
    ConstOverflow(),
    MaskOverflow(),
    EpsUnderflow(),
    IndexInHalf(),
    RangeHalf(),
    ConvOverflow(),
    EinsumNoKernel(),
    PowSquare(),
    PowLogarithm(),
    GeluTanh(),
)
