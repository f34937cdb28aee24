"""Indices in int64 -> int32, where ONNX lets them be and no number is lost.

* Slice: constant starts, ends, axes and steps. A bound beyond int32 (exporters write
  INT64_MAX for "to the end") is clamped, never wrapped, and only where the axis is known
  to be shorter than that, so that it means the same.
* Gather, GatherElements, ScatterElements: constant indices that fit; computed indices are
  cast, where the axis is known to be shorter than 2^31: ONNX wants them to be in it.

Where ONNX's own operator takes int64 only, nothing can be done, and the reason says so.

Source: ONNX operator docs; recipes of ModelZoo-PyTorch that cast indices of Slice and
Gather.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import add_constant
from ascendflow.graph.nodes import constant, length_along
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ascendflow.documents.rewrite_log import Effect

_INT64_ONLY = {
    "ConstantOfShape": "input", "Expand": "shape", "GatherND": "indices", "Pad": "pads",
    "ReduceSum": "axes", "Reshape": "shape", "ScatterND": "indices", "Split": "split",
    "Squeeze": "axes", "Tile": "repeats", "TopK": "k", "Unsqueeze": "axes",
}  # fmt: skip
"""Operators whose shapes or indices ONNX wants in int64, with the input's name."""

_INDEXING = frozenset({"Gather", "GatherElements", "ScatterElements"})
_LIMITS = np.iinfo(np.int32)
_AXES, _STEPS = 3, 4


class Int64ToInt32(Rule):
    """Narrow what may be narrow."""

    name: ClassVar[str] = "int64-to-int32"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Slice", *_INDEXING, *_INT64_ONLY})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace the index inputs, or say why not."""
        if node.op_type in _INT64_ONLY:
            name = _INT64_ONLY[node.op_type]
            yield Skipped(node, f"ONNX's {node.op_type} takes {name} in int64 only")
            return
        reason = _slice(node) if node.op_type == "Slice" else _indices(node)
        if reason is not None:
            yield Skipped(node, reason)
            return
        yield Applied(node, before={"indices": "INT64"}, after={"indices": "INT32"})


def _slice(node: ir.Node) -> str | None:
    """Narrow a Slice; return why not, or None."""
    given = {n: v for n, v in enumerate(node.inputs) if n and v is not None}
    if not given or any(v.dtype != ir.DataType.INT64 for v in given.values()):
        return "its bounds are not in int64"
    arrays = {number: constant(value) for number, value in given.items()}
    known = {number: array for number, array in arrays.items() if array is not None}
    if len(known) < len(arrays):
        return "its bounds are computed"
    if len({array.shape for array in known.values()}) > 1 or known[1].ndim != 1:
        return "its bounds are not vectors of one length"
    if _STEPS in known and not _fits(known[_STEPS]):
        return "its steps do not fit int32"
    data = node.inputs[0]
    shape = None if data is None else data.shape
    for place, axis in enumerate(known.get(_AXES, np.arange(len(known[1])))):
        is_known = shape is not None and -len(shape) <= axis < len(shape)
        length = shape[int(axis)] if shape is not None and is_known else None
        fit = all(_fits(known[number][place]) for number in (1, 2))
        if not fit and (not isinstance(length, int) or length > _LIMITS.max):
            return f"a bound does not fit int32, and the length of axis {axis} is not fixed"
    for number, array in known.items():
        narrow = add_constant(node, f"int32.{number}", _clamped(array))
        node.replace_input_with(number, narrow)
    return None


def _clamped(array: NDArray[np.int64]) -> NDArray[np.int32]:
    """Clamp; the largest number stays the largest, and no other becomes it.

    onnxruntime takes it for "to the end" with a negative step too, where it is the start.
    """
    is_largest = (array == np.iinfo(np.int64).max) | (array == _LIMITS.max)
    others = np.clip(array, _LIMITS.min, _LIMITS.max - 1)
    return np.where(is_largest, _LIMITS.max, others).astype(np.int32)


def _indices(node: ir.Node) -> str | None:
    """Narrow the indices of a Gather and the like; return why not, or None."""
    indices = node.inputs[1]
    if indices is None or indices.dtype != ir.DataType.INT64:
        return "its indices are not in int64"
    known = constant(indices)
    if known is not None:
        if not _fits(known):
            return "an index does not fit int32"
        narrow = add_constant(node, "int32", known.astype(np.int32))
        node.replace_input_with(1, narrow)
        return None
    axis = node.attributes.get_int("axis", 0)
    length = length_along(node.inputs[0], axis)
    if length is None or length > _LIMITS.max:
        return f"its indices are computed, and the length of axis {axis} is not fixed"
    to = ir.AttrInt64("to", ir.DataType.INT32)
    name = f"{node.outputs[0].name}/int32"
    cast = ir.Node("", "Cast", [indices], [to], name=name, version=node.version)
    cast.outputs[0].name = name
    cast.outputs[0].type = ir.TensorType(ir.DataType.INT32)
    cast.outputs[0].shape = indices.shape
    assert node.graph is not None  # noqa: S101, a node that is edited is in a graph
    node.graph.insert_before(node, cast)
    node.replace_input_with(1, cast.outputs[0])
    return None


def _fits(numbers: np.ndarray) -> bool:
    return bool(((numbers >= _LIMITS.min) & (numbers <= _LIMITS.max)).all())
