"""The types that were chosen for a model's nodes, as rows to print."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ascendflow.cann.types import choose, floating
from ascendflow.graph.load import load_model
from ascendflow.graph.nodes import label, opset

if TYPE_CHECKING:
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.cann.target import Target
    from ascendflow.cann.types import Choice

_NOTHING = "-"
_HEADER = ("node", "operator", "on the target", "in", "out", "why")


@dataclass(frozen=True)
class Listed:
    """One node.

    Attributes:
        node: its name, else its first output's.
        op_type: ONNX operator.
        operator: GE operator, where a source names it.
        dtype_in: type of the floating tensors that it reads on the target.
        dtype_out: type of those that it gives.
        reason: why.
        problem: `rejected` or `unknown` where nothing is known to run it.
    """

    node: str
    op_type: str
    operator: str | None
    dtype_in: str | None
    dtype_out: str | None
    reason: str
    problem: str | None


def listed(path: Path, target: Target) -> list[Listed]:
    """List every node of an ONNX file, in the graph's order, subgraphs included.

    Raises:
        StageError: it is no ONNX model, or a setting names what is not there.
    """
    model = load_model(path)
    for node in model.graph.all_nodes():
        node.version = opset(node, model)
    choices = choose(model, target)
    return [_row(node, choices.get(node)) for node in model.graph.all_nodes()]


def as_text(rows: list[Listed], target: Target) -> str:
    """Align the rows below a header, with what was asked for on the first line."""
    cells = [_HEADER, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    title = (
        f"CANN {target.profile.version}, {target.soc.family}, {target.settings.mode}; "
        "emulated, not asked of a toolkit"
    )
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in cells
    )
    return "\n".join([title, *(line.rstrip() for line in lines)]) + "\n"


def as_data(rows: list[Listed], target: Target) -> dict[str, Any]:
    """Return the rows as plain JSON data."""
    return {
        "cann": target.profile.version,
        "soc_family": target.soc.family,
        "precision_mode": target.settings.mode,
        "is_real_device": False,
        "nodes": [asdict(row) for row in rows],
    }


def _row(node: ir.Node, choice: Choice | None) -> Listed:
    name, op_type = label(node), node.op_type
    if choice is None:
        reason = f"its domain {node.domain!r} is not ONNX's own"
        return Listed(name, op_type, None, None, None, reason, "unknown")
    dtype_in, dtype_out = _types(node, choice)
    problem = None if choice.problem is None else choice.problem.consequence
    return Listed(
        name, op_type, choice.operator, dtype_in, dtype_out, choice.reason, problem
    )


def _types(node: ir.Node, choice: Choice) -> tuple[str | None, str | None]:
    """Return the column's types, where the node has floats of that kind; Cast's own."""
    if node.op_type == "Cast":
        return _numpy(node.inputs[0]), _numpy(node.outputs[0])
    if choice.column is None:
        return None, None
    values = set(floating(node))
    reads = any(value in values for value in node.inputs)
    gives = any(value in values for value in node.outputs)
    operand, result = choice.column.operand, choice.column.result
    return operand if reads else None, result if gives else None


def _numpy(value: ir.Value | None) -> str | None:
    if value is None or value.dtype is None:
        return None
    return str(value.dtype.numpy())


def _cells(row: Listed) -> tuple[str, ...]:
    marked = row.reason if row.problem is None else f"{row.problem}: {row.reason}"
    types = (row.dtype_in or _NOTHING, row.dtype_out or _NOTHING)
    return (row.node, row.op_type, row.operator or _NOTHING, *types, marked)
