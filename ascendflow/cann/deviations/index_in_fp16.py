"""Positions that were computed in fp16: whole numbers above 2048 are not all fp16 numbers.

Under force_fp16 every floating kernel gets fp16, those too that only compute where to
gather, slice or scatter. The Cast to integers at the end keeps what is left.

No rule helps: keep the nodes that compute positions in fp32 (`keep_dtype`), or compute
with integers.

RoiAlign reads its boxes as data, so they are fp16 with the rest: steps of half a pixel
from 512 on, of one from 1024, of two from 2048. The parser's Cast of boxes to fp32 does
not help; keeping RoiAlign and the Concat that the parser puts before it in fp32
(`keep_dtype`) may, where they have such a kernel.

Sources: GE `op_dtype_selection_strategy_force_fp16.cc`; canndev and ops-cv
`roi_align_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.types import runs_in_half
from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.nodes import input_at, label

if TYPE_CHECKING:
    import onnx_ir as ir

EXACT = 2048
"""Up to here every whole number is an fp16 number."""
_WHOLE_PIXELS = 1024
"""From here on neighbouring fp16 numbers are a pixel apart."""

_POSITIONS: dict[str, tuple[int, ...]] = {
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "Gather": (1,),
    "GatherElements": (1,),
    "GatherND": (1,),
    "OneHot": (0, 1),
    "Pad": (1,),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (3,),
    "ScatterElements": (1,),
    "ScatterND": (1,),
    "Slice": (1, 2),
    "Tile": (1,),
    "TopK": (1,),
}
"""Operator -> the inputs that say where or how many."""

_ON_THE_WAY = frozenset(
    {
        "Abs", "Add", "Cast", "Clip", "Concat", "Div", "Expand", "Flatten", "Gather",
        "Identity", "Max", "Min", "Mod", "Mul", "Neg", "Reshape", "Slice", "Squeeze", "Sub",
        "Transpose", "Unsqueeze", "Where",
    }
)  # fmt: skip


class IndexInHalf(NodeDeviation):
    """A node that is told by fp16 numbers where to read."""

    name: ClassVar[str] = "index-in-fp16"
    op_types: ClassVar[frozenset[str]] = frozenset({*_POSITIONS, "RoiAlign"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = (
        "Indices are integers; what computes them in fp32 is exact to 2^24."
    )
    cann: ClassVar[str] = (
        "In force_fp16 what computes them runs in fp16, which holds every whole number up "
        "to 2048 only; RoiAlign's boxes are fp16 too."
    )
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "GE op_dtype_selection_strategy_force_fp16.cc; canndev and ops-cv RoiAlign plugins"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "medium")
    """How types are chosen was read; that RoiAlign's boxes follow is inferred."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for fp16 kernels upstream of what the node takes as positions."""
        if node.op_type == "RoiAlign":
            return _boxes(node, conditions)
        limit = _longest(node)
        if limit is not None and limit <= EXACT:
            return Harmless(f"no position is beyond {limit}")
        for index in _POSITIONS[node.op_type]:
            value = input_at(node, index)
            maker = None if value is None else _half_maker(value, conditions)
            if maker is not None:
                return Found(
                    f"input {index} comes from {label(maker)!r} ({maker.op_type}), which "
                    f"runs in fp16: positions above {EXACT} are not exact",
                    "precision",
                )
        return Harmless("no fp16 kernel computes its positions")


def _half_maker(value: ir.Value, conditions: Conditions) -> ir.Node | None:
    """Return the node that gives floats in fp16 from which the positions are cast."""
    waiting, seen = [value], {value}
    while waiting:
        node = waiting.pop().producer()
        if node is None:
            continue
        is_float = node.outputs[0].dtype in FLOATS
        if is_float and node.op_type not in {"Cast", "Constant"}:
            if runs_in_half(node, conditions):
                return node
        elif node.op_type in _ON_THE_WAY:
            fresh = [v for v in node.inputs if v is not None and v not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
    return None


def _longest(node: ir.Node) -> int | None:
    """Return the largest position or count that makes sense, or None."""
    value = node.inputs[0]
    if node.op_type in {"ConstantOfShape", "Expand", "Range", "Resize", "Tile", "Pad"}:
        value = node.outputs[0]
    shape = None if value is None else value.shape
    if node.op_type in {"OneHot", "Reshape"} or shape is None:
        return None
    lengths = [length for length in shape if isinstance(length, int)]
    if len(lengths) < len(shape):
        return None
    if node.op_type in {"Gather", "GatherElements", "ScatterElements"}:
        axis = node.attributes.get_int("axis", 0)
        return lengths[axis] if -len(lengths) <= axis < len(lengths) else None
    return max(lengths, default=0)


def _boxes(node: ir.Node, conditions: Conditions) -> Detection:
    if not conditions.half:
        return Harmless("its boxes are fp32")
    shape = None if node.inputs[0] is None else node.inputs[0].shape
    scale = node.attributes.get_float("spatial_scale", 1.0)
    sides = [] if shape is None else [n for n in tuple(shape)[2:] if isinstance(n, int)]
    if len(sides) == 2 and max(sides) / scale <= _WHOLE_PIXELS:
        return Harmless(f"its boxes end at {max(sides) / scale:g}, less than a pixel apart")
    extent = f"up to {max(sides) / scale:g}" if len(sides) == 2 else "of unknown extent"
    return Found(f"its boxes, {extent}, are fp16: a pixel apart from 1024 on", "precision")
