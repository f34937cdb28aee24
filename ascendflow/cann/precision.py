"""precision_mode -> in which type each node runs.

What the fusion engine (FE) of CANN does with kernels' type columns, for the modes that are
modelled:

* force_fp16: fp32 is wanted as fp16, everywhere but in Cast, which keeps its types.
* must_keep_origin_dtype: the original type or a wider one; a kernel that has neither is
  refused by AI Core, and goes to AI CPU or fails.
* force_fp32 (= cube_fp16in_fp32out): fp32 everywhere; fp16 only where a kernel has nothing
  else; a matrix kernel with an fp16-in, fp32-out column takes that one.

Sources: GE `op_dtype_selection_strategy_*.cc`, `sub_ops_store.cc`; kernel types from
8.1.RC1 `aic-<soc>-ops-info.json`, matrix units from its `platform_config/*.ini`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ascendflow.cann.gap import Gap
from ascendflow.cann.soc import FAMILIES, spelled

if TYPE_CHECKING:
    from ascendflow.cann.soc import Family, Soc

Dtype = Literal["float16", "float32"]

MODELLED = ("force_fp16", "must_keep_origin_dtype", "force_fp32")

CUBES = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
"""Operators of the matrix unit: fp16 operands, fp32 sums, one rounding at the output."""

SOURCE = (
    "GE op_dtype_selection_strategy_*.cc, sub_ops_store.cc; CANN 8.1.RC1 "
    "aic-<soc>-ops-info.json, platform_config"
)

_RECURRENT = frozenset({"GRU", "LSTM", "RNN"})

_HALF_ONLY: dict[Family, frozenset[str]] = {
    "ascend310": _RECURRENT
    | {
        "ArgMax",
        "ArgMin",
        "Elu",
        "Exp",
        "MaxPool",
        "Mish",
        "ReduceMax",
        "ReduceMin",
        "TopK",
    },
    "ascend310p": _RECURRENT | {"MaxPool"},
    "ascend310b": _RECURRENT | {"GridSample", "MaxPool"},
    "ascend910a": _RECURRENT | {"MaxPool", "NonMaxSuppression", "TopK"},
    "ascend910b": frozenset(),
    "ascend910_93": frozenset(),
}
"""ONNX operators whose AI Core kernel takes fp16 and not fp32, beside AveragePool."""

_PICTURE = 4
"""Rank of what a 2-D operator reads: N, C, H, W."""
_VOLUME = 5


@dataclass(frozen=True)
class NodePrecision:
    """What a kernel gets and gives.

    Attributes:
        operands: type of its floating inputs.
        result: type of its floating outputs.
    """

    operands: Dtype
    result: Dtype


HALF = NodePrecision("float16", "float16")
WIDE = NodePrecision("float32", "float32")
MIXED = NodePrecision("float16", "float32")


def why_not_modelled(mode: str, soc: Soc) -> str | None:
    """Return why a precision_mode is not modelled on a family of SoCs, or None."""
    if mode not in MODELLED:
        return f"precision_mode {mode!r} is not modelled yet; modelled: {_modelled()}"
    if mode == "force_fp32" and not soc.fp32_cube:
        return (
            f"precision_mode 'force_fp32' is not modelled on {soc.family}: its matrix unit "
            f"has no fp32; modelled: {_modelled()}"
        )
    return None


def _modelled() -> str:
    """Say which modes are modelled, and where, if not everywhere."""
    everywhere = ", ".join(mode for mode in MODELLED if mode != "force_fp32")
    wide = spelled(each.family for each in FAMILIES.values() if each.fp32_cube)
    return f"{everywhere}; force_fp32 on {wide}"


def node_precision(
    op_type: str, dtype: Dtype, rank: int | None, mode: str, soc: Soc
) -> NodePrecision | Gap:
    """Choose the types in which one node runs.

    Args:
        op_type: ONNX operator of the default domain; Cast has its own types.
        dtype: type of its floating tensors in the ONNX graph.
        rank: number of dimensions of its first input, where known.
        mode: a modelled precision_mode.
        soc: the family it is for.
    """
    if mode == "force_fp16":
        return HALF
    if dtype == "float16":
        known = mode == "must_keep_origin_dtype"
        return HALF if known else Gap("float16 tensors under force_fp32 are not modelled")
    if op_type in CUBES:
        return _wide_cube(op_type, rank, mode, soc)
    if op_type == "AveragePool":
        return _average_pool(rank, mode, soc)
    return _wide_vector(op_type, rank, mode, soc)


def _wide_vector(
    op_type: str, rank: int | None, mode: str, soc: Soc
) -> NodePrecision | Gap:
    if op_type not in _HALF_ONLY[soc.family]:
        return WIDE
    if mode == "force_fp32":
        return HALF
    if op_type == "MaxPool" and rank == _PICTURE:
        return Gap(f"CANN has no fp32 MaxPool on {soc.family}, nor on AI CPU", refused=True)
    return Gap(f"AI Core of {soc.family} has no fp32 {op_type}; AI CPU's is not known")


def _average_pool(rank: int | None, mode: str, soc: Soc) -> NodePrecision | Gap:
    """2-D: fp16 on AI Core, fp32 on AI CPU. 3-D: fp32 on 910B and 910_93 only."""
    if rank == _VOLUME:
        if soc.family in {"ascend910b", "ascend910_93"}:
            return WIDE
        if mode == "must_keep_origin_dtype":
            return Gap(f"AI Core of {soc.family} has no fp32 3-D AveragePool")
    return WIDE if mode == "must_keep_origin_dtype" else HALF


def _wide_cube(op_type: str, rank: int | None, mode: str, soc: Soc) -> NodePrecision | Gap:
    if not soc.fp32_cube:
        return Gap(
            f"the matrix unit of {soc.family} has no fp32; AI CPU's {op_type} not known"
        )
    if op_type in {"Gemm", "MatMul"}:
        return WIDE
    if rank == _VOLUME and op_type == "Conv":
        if soc.family != "ascend310b":
            return WIDE
        if mode == "force_fp32":
            return HALF
    if rank not in {_PICTURE - 1, _PICTURE}:  # one dimension runs as two
        return Gap(f"{op_type} of rank {rank} in fp32 is not known on {soc.family}")
    has_mixed_column = op_type == "ConvTranspose" and soc.family != "ascend310b"
    return MIXED if mode == "force_fp32" and has_mixed_column else WIDE
