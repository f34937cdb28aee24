"""Where int32 goes that ONNX calls int64.

TopK's indices and ArgMin's output are int64 in ONNX and int32 in CANN. Operators that only
move elements pass the type on; Cast ends it; an index input takes either. Where such a
tensor meets a real int64 one in an operator whose verifier wants equal types, ATC stops.

Sources: canndev `elewise_calculation_ops.cc` (CheckTwoInputDtypeSame in Add, Mul, RealDiv,
Maximum, Minimum, Equal, Greater, GreaterEqual, Less, LessEqual), `selection_ops.h` (TopK).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import onnx_ir as ir

from ascendflow.cann.detection import Detection, Found, Harmless
from ascendflow.graph.nodes import label

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERIFIED = frozenset(
    {
        "Add", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max",
        "Min", "Mul",
    }
)  # fmt: skip
"""Operators whose verifier compares the types of its inputs."""

_UNREAD = frozenset({"Concat", "Mod", "Sub", "Sum", "Where"})
"""Operators of equal types whose verifier was not read, or compares nothing."""

_MOVING = frozenset(
    {
        "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Pad",
        "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
    }
)  # fmt: skip
"""Operators that give what their first input has."""

_MIXED = _VERIFIED | _UNREAD


@dataclass
class Trail:
    """What becomes of one int32 tensor.

    Attributes:
        rejected: nodes whose verifier refuses it beside int64.
        unknown: nodes that get it beside int64, and of which no verifier was read.
        outputs: names of the graph outputs that it reaches.
    """

    rejected: list[ir.Node] = field(default_factory=list)
    unknown: list[ir.Node] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


def of_indices(value: ir.Value) -> Detection:
    """Say what comes of a tensor that is int32 in CANN and int64 in ONNX."""
    found = _trail(value)
    if found.rejected:
        reason = f"its indices are int32 and meet int64 in {_called(found.rejected)}"
        return Found(reason, "rejected")
    if found.unknown:
        reason = f"its indices are int32 and meet int64 in {_called(found.unknown)}"
        return Found(reason, "unknown")
    if found.outputs:
        reason = f"output {', '.join(map(repr, found.outputs))} is int32, not int64"
        return Found(reason, "precision")
    return Harmless("its int32 indices only index, or are cast")


def _trail(value: ir.Value) -> Trail:
    """Follow an int32 tensor to where its type ends or meets another."""
    found, seen, waiting = Trail(), {value}, [value]
    while waiting:
        current = waiting.pop(0)
        if current.is_graph_output():
            found.outputs.append(str(current.name))
        for node, index in current.uses():
            if node.op_type in _MIXED and not _agree(node):
                clashes = found.rejected if node.op_type in _VERIFIED else found.unknown
                if node not in clashes:
                    clashes.append(node)
            elif node.op_type in _MIXED or (node.op_type in _MOVING and index == 0):
                new = [v for v in node.outputs if v.dtype == ir.DataType.INT64]
                waiting += [v for v in new if v not in seen]
                seen.update(new)
    return found


def _called(nodes: list[ir.Node]) -> str:
    """Name `nodes` for a message."""
    return ", ".join(f"{label(node)!r} ({node.op_type})" for node in nodes)


def _agree(node: ir.Node) -> bool:
    return all(_is_narrow(value) for value in _int64_inputs(node))


def _int64_inputs(node: ir.Node) -> Iterator[ir.Value]:
    for value in node.inputs:
        if value is not None and value.dtype == ir.DataType.INT64:
            yield value


def _is_narrow(value: ir.Value) -> bool:
    """Return whether CANN has a tensor in int32 that ONNX has in int64."""
    node = value.producer()
    if node is None:
        return False
    if node.op_type in {"TopK", "ArgMin"}:
        return value.dtype == ir.DataType.INT64
    if node.op_type in _MOVING:
        first = node.inputs[0]
        return first is not None and _is_narrow(first)
    return node.op_type in _MIXED and _agree(node)
