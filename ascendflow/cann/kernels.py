"""Which types the kernels of each SoC family take, and on which mix list they stand.

One line: GE operator, families, list, columns. A column is what a kernel takes and gives:
`h` float16, `f` float32, `hf` float16 in and float32 out; integers and bfloat16 are left
out, as are columns of no floats. `?`: the kernel says at run time (op_select_format), so
nothing was read, and fp16 and fp32 are taken, as far as the matrix unit has them. A family
that no line names has no AI Core kernel of the operator.

Sources: CANN 8.1.RC1 `aic-<soc>-ops-info.json` (dtype, precision_reduce), in which only
the first input and the first output were looked at: high for 8.1, carried on to the other
versions (medium). For `?` the matrix unit's types in `platform_config/*.ini`
(Intrinsic_mmad): medium. AI CPU from `aicpu_kernel.json`: high that there is a kernel,
medium that it runs in the graph's types.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

from ascendflow.cann.soc import Family

if TYPE_CHECKING:
    from ascendflow.cann.soc import Soc

Mix = Literal["white", "gray", "black"]
"""Whether mixed precision may lower an operator: always, as its producer, never."""
Dtype = Literal["float16", "float32"]


@dataclass(frozen=True)
class Column:
    """One combination of types that a kernel offers.

    Attributes:
        operand: type of its floating inputs.
        result: type of its floating outputs.
    """

    operand: Dtype
    result: Dtype


@dataclass(frozen=True)
class Kernel:
    """An operator's kernel on AI Core, as far as floats go.

    Attributes:
        mix: the list it stands on.
        columns: what it offers; in which order is not known. Empty: no AI Core kernel.
        is_read: the columns were read, not assumed.
    """

    mix: Mix
    columns: tuple[Column, ...]
    is_read: bool


HALF = Column("float16", "float16")
MIXED = Column("float16", "float32")
WIDE = Column("float32", "float32")

UNREAD = Kernel("gray", (HALF, WIDE), is_read=False)
"""What is taken of an operator of which nothing was read."""

CUBE_OPERATORS = frozenset(
    {
        "BatchMatMulV2", "Conv2D", "Conv2DTransposeD", "Conv3D", "Conv3DTranspose",
        "FullyConnection", "GEMM", "MatMulV2",
    }
)  # fmt: skip
"""Operators of the matrix unit, as far as they are named here: FE's `fp16.op_type`
(GE fe_config/fe.ini)."""

ON_AI_CPU = frozenset(
    {
        "AvgPoolV2", "GridSampler2D", "Less", "Log", "LogSoftmaxV2", "Mul", "Round",
        "ScatterElements", "SelectV2", "SoftmaxV2", "Sqrt",
    }
)  # fmt: skip
"""Operators with an fp32 kernel on AI CPU. Others were not looked up."""

NOT_ON_AI_CPU = frozenset({"MaxPoolV3"})
"""Operators that aicpu_kernel.json does not have."""

_ELSE = {"TopKV2": "TopKD"}
"""Where a family has no kernel of the first, the second is taken."""

_LETTERS: dict[str, Column] = {"h": HALF, "hf": MIXED, "f": WIDE}
_LATER_WIDE = frozenset({"DynamicGRUV2", "DynamicRNN", "MaxPool3D"})
_LATER: frozenset[Family] = frozenset({"ascend910b", "ascend910_93"})
"""Families on which computed columns of `_LATER_WIDE` are taken to have fp32, as those
that their relatives declare (MaxPoolV3; DynamicRNN on the other families)."""

_TABLE = """
Abs all gray h f
Add all gray ?
ArgMaxV2 310 gray h
ArgMaxV2 310P,310B,910A,910B,910_93 gray h f
ArgMin 310 gray h
ArgMin 310P,310B,910A,910B,910_93 gray h f
AvgPool3D 310P,910A gray h
AvgPool3D 910B,910_93 gray h f
AvgPoolV2 all gray h
BatchMatMulV2 all white ?
BatchNorm all gray h f
Ceil all gray h f
Celu all gray h f
ClipByValue all gray h f
ConcatD all gray ?
Conv2D all white ?
Conv2DTransposeD 310,310P,910A white h hf
Conv2DTransposeD 310B white h f
Conv2DTransposeD 910B,910_93 white h hf f
Conv3D 310,310P,910A white h hf
Conv3D 310B white h
Conv3D 910B,910_93 white h f
Conv3DTranspose 310,310P,910A white h hf
Conv3DTranspose 310B,910B,910_93 white h
Cos all gray ?
CumsumD all gray h f
DepthToSpace all gray h f
DynamicGRUV2 310 gray ?
DynamicGRUV2 310P,310B,910A,910B,910_93 white ?
DynamicRNN 310,310P gray h hf
DynamicRNN 310B,910A white h hf
DynamicRNN 910B,910_93 white ?
Elu 310 gray h
Elu 310P,310B,910A,910B,910_93 gray h f
Equal all gray h f
Erf all gray h f
Exp 310 gray h
Exp 310P,310B,910A,910B,910_93 gray h f
Expand all gray h f
Floor all gray h f
FullyConnection 310,310P,910A gray ?
FullyConnection 310B,910B,910_93 white ?
GatherNd all gray h f
GatherV2 all gray h f
Gelu all gray h f
Greater all gray h f
GridSampler2D 310P,910B,910_93 gray ?
HardSigmoid all gray h f
HardSwish all gray h f
InstanceNorm all gray h f
LRN all gray h f
LayerNorm all gray ?
LayerNormV4 310P gray h
LayerNormV4 910B,910_93 white h f
LeakyRelu all gray h f
Less all gray h f
Log 310,310P gray h f
Log 310B,910A,910B,910_93 black h f
LogSoftmaxV2 310,310P gray h f
LogSoftmaxV2 310B,910A,910B,910_93 black h f
LpNorm all gray h f
MatMulV2 all white ?
MaxPool3D 310,310P,310B,910A gray ?
MaxPool3D 910B,910_93 white ?
MaxPoolV3 310,310P,310B,910A gray h
MaxPoolV3 910B,910_93 white h f
Maximum all gray h f
Minimum all gray h f
Mish 310 gray h
Mish 310P,310B,910A,910B,910_93 gray h f
Mod all gray h f
Mul all gray ?
Neg all gray h f
PRelu all gray ?
PadV3 all gray ?
Pow 310,310P gray h f
Pow 310B,910A,910B,910_93 black h f
ROIAlign all gray h f
RealDiv 310 gray h f
RealDiv 310P,310B,910A,910B,910_93 gray ?
Reciprocal all gray ?
ReduceMax 310 gray h
ReduceMax 310P,310B,910A,910B,910_93 gray h f
ReduceMaxD all gray h f
ReduceMean 310 gray h
ReduceMean 310P,310B,910A,910B,910_93 gray h f
ReduceMeanD 310,310B,910A,910B,910_93 black h f
ReduceMeanD 310P gray h f
ReduceMin 310 gray h
ReduceMin 310P,310B,910A,910B,910_93 gray h f
ReduceMinD 310 gray h
ReduceMinD 310P,310B,910A,910B,910_93 gray h f
ReduceProd 310,310P gray h f
ReduceProd 310B,910A,910B,910_93 black h f
ReduceProdD 310,310P gray h f
ReduceProdD 310B,910A,910B,910_93 black h f
ReduceSum 310,310P gray h f
ReduceSum 310B,910A,910B,910_93 black h f
Relu all gray h f
Resize all gray ?
ResizeBilinearV2 all gray h hf f
ResizeNearestNeighborV2 all gray h f
Round all gray h f
ScatterElements 310B,910A,910B,910_93 gray h f
Selu all gray h f
Sigmoid all gray h f
Sign all gray h f
Sin all gray h f
SoftmaxV2 all gray ?
Softplus all gray h f
SpaceToDepth all gray ?
SplitD all gray ?
Sqrt all gray h f
Sub all gray h f
Tan all gray h f
Tanh all gray h f
Tile all gray h f
TopKD 310,310B,910A gray h
TopKD 310P,910B,910_93 gray h f
TopKV2 310P,310B,910B,910_93 gray h f
TopKV2 910A gray h
Transpose all gray h f
"""


def kernel(operator: str | None, soc: Soc) -> Kernel:
    """Return what is known of an operator's kernel on a family.

    Args:
        operator: GE operator, or None where it is not known.
        soc: the family.
    """
    if operator is None or operator not in _parsed():
        return UNREAD
    found = _parsed()[operator].get(soc.family)
    if found is None and operator in _ELSE:
        return kernel(_ELSE[operator], soc)
    if found is None:
        return Kernel("gray", (), is_read=True)
    mix, letters = found
    if letters == ("?",):
        return Kernel(mix, _computed(operator, soc), is_read=False)
    return Kernel(mix, tuple(_LETTERS[each] for each in letters), is_read=True)


def operators() -> frozenset[str]:
    """Return every operator that has a line."""
    return frozenset(_parsed())


def _computed(operator: str, soc: Soc) -> tuple[Column, ...]:
    if operator in CUBE_OPERATORS:
        return (HALF, WIDE) if soc.fp32_cube else (HALF,)
    if operator in _LATER_WIDE:
        return (HALF, WIDE) if soc.family in _LATER else (HALF,)
    return (HALF, WIDE)


@cache
def _parsed() -> dict[str, dict[Family, tuple[Mix, tuple[str, ...]]]]:
    families: dict[str, Family] = {
        family.removeprefix("ascend").upper(): family for family in get_args(Family)
    }
    mixes: dict[str, Mix] = {mix: mix for mix in get_args(Mix)}
    rows: dict[str, dict[Family, tuple[Mix, tuple[str, ...]]]] = {}
    for line in _TABLE.split("\n")[1:-1]:
        operator, named, mix, *letters = line.split()
        for name in families if named == "all" else named.split(","):
            row = rows.setdefault(operator, {})
            row[families[name]] = (mixes[mix], tuple(letters))
    return rows
