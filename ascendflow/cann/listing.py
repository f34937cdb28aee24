"""The types that were chosen for a model's nodes, as rows to print."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ascendflow.cann.deviations.kernel_dtype import KernelDtype
from ascendflow.cann.deviations.op_unregistered import OpUnregistered
from ascendflow.cann.lint import lint
from ascendflow.cann.reasons import UNREAD
from ascendflow.cann.types import choose, floating
from ascendflow.graph.io_spec import dtype_name
from ascendflow.graph.nodes import label
from ascendflow.graph.soundness import load_sound, looking_at
from ascendflow.graph.text import spelled
from ascendflow.terminal import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.cann.lint import Finding
    from ascendflow.cann.target import Target
    from ascendflow.cann.types import Choice
    from ascendflow.graph.fixed_shapes import Shapes

_NOTHING = "-"
_LONGEST_CELL = 200
"""Characters of a name: every row is as wide as the longest."""
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
        problem: `rejected` or `unknown` where nothing is known to take or to run it; then
            it has no types, unless a rule makes it one that is taken.
    """

    node: str
    op_type: str
    operator: str | None
    dtype_in: str | None
    dtype_out: str | None
    reason: str
    problem: str | None


@dataclass(frozen=True)
class Listing:
    """The nodes of one file.

    Attributes:
        nodes: in the graph's order, subgraphs included.
        rejected: why the target refuses the model whatever its nodes are.
    """

    nodes: tuple[Listed, ...]
    rejected: tuple[str, ...]


def listed(path: Path, target: Target, shapes: Shapes | None = None) -> Listing:
    """List every node of an ONNX file, and say which of them lint finds refused.

    Args:
        path: the file.
        target: what it would run on.
        shapes: of inputs, by name, instead of what the file leaves open.

    Raises:
        StageError: it is no ONNX model that can be run (`graph.soundness`), or a setting
            names what is not there.
        UsageError: `shapes` are not those of its inputs.
    """
    model = load_sound(path, shapes)
    with looking_at(path):
        choices = choose(model, target)
        findings = list(lint(model, target, choices))
    problems = _problems(findings)
    return Listing(
        tuple(
            _row(node, choices.get(node), problems.get(node))
            for node in model.graph.all_nodes()
        ),
        tuple(f.found.reason for f in findings if f.node is None and _is_refusal(f)),
    )


def as_text(listing: Listing, target: Target) -> str:
    """Align the rows below a header, with what was asked for on the first line."""
    notes: dict[str, str] = {}
    cells = [_HEADER, *(_cells(row, notes) for row in listing.nodes)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    title = (
        f"CANN {target.profile.version}, {target.soc.family}, {target.settings.mode}; "
        "emulated, not asked of a toolkit"
    )
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in cells
    )
    refused = [f"rejected, whatever its nodes are: {why}" for why in listing.rejected]
    below = (f"{mark} {UNREAD}{assumed}" for assumed, mark in notes.items())
    return "\n".join([title, *refused, *(line.rstrip() for line in lines), *below]) + "\n"


def totals_line(listing: Listing) -> str:
    """Count the nodes, those that are refused, and those of which nothing is known."""
    counts = Counter(row.problem for row in listing.nodes)
    line = (
        f"{len(listing.nodes)} node{'s' * (len(listing.nodes) != 1)}: "
        f"{counts['rejected']} rejected, "
        f"{counts['unknown']} unknown"
    )
    return f"{line}; the model is rejected as a whole" if listing.rejected else line


def as_data(listing: Listing, target: Target) -> dict[str, Any]:
    """Return the rows as plain JSON data."""
    return {
        "cann": target.profile.version,
        "soc_family": target.soc.family,
        "precision_mode": target.settings.mode,
        "is_real_device": False,
        "rejected": list(listing.rejected),
        "nodes": [asdict(row) for row in listing.nodes],
    }


def _problems(findings: Iterable[Finding]) -> dict[ir.Node, Finding]:
    """Return the gravest reason why each node may not be taken or run, if there is one."""
    found: dict[ir.Node, Finding] = {}
    for finding in findings:
        is_doubtful = finding.found.consequence == "unknown" and isinstance(
            finding.deviation, OpUnregistered | KernelDtype
        )
        if finding.node is None or not (is_doubtful or _is_refusal(finding)):
            continue
        first = found.setdefault(finding.node, finding)
        if _is_refusal(finding) and not _is_refusal(first):
            found[finding.node] = finding
    return found


def _is_refusal(finding: Finding) -> bool:
    return finding.found.consequence == "rejected"


def _row(node: ir.Node, choice: Choice | None, problem: Finding | None) -> Listed:
    name, op_type = spelled(label(node)), spelled(node.op_type)
    operator = None if choice is None or not choice.operator else spelled(choice.operator)
    types = (None, None) if choice is None else _types(node, choice)
    if problem is not None:
        said = problem.found.consequence
        if not _keeps_operator(problem):
            types = None, None
        return Listed(name, op_type, operator, *types, _why(problem, choice), said)
    assert choice is not None  # noqa: S101, lint refuses all of other domains
    return Listed(name, op_type, operator, *types, choice.reason, None)


def _why(problem: Finding, choice: Choice | None) -> str:
    reason, cure = problem.found.reason, problem.deviation.cure
    if cure is None:
        return reason
    then = ""
    if choice is not None and _keeps_operator(problem):
        doubt = "" if choice.problem is None else f"{choice.problem.consequence}: "
        then = f"; after that: {doubt}{choice.reason}"
    return f"{reason}; rule {cure} is against it{then}"


def _keeps_operator(problem: Finding) -> bool:
    """Return whether a rule makes of the node one of the same operator that is taken."""
    is_replaced = isinstance(problem.deviation, OpUnregistered)
    return problem.deviation.cure is not None and not is_replaced


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
    return dtype_name(value.dtype) or None


def _cells(row: Listed, notes: dict[str, str]) -> tuple[str, ...]:
    """Spell a row; what was not read of its operator is a note for all such rows."""
    reason, _, assumed = row.reason.partition(f"; {UNREAD}")
    if assumed:
        reason += f" {notes.setdefault(assumed, f'[{len(notes) + 1}]')}"
    marked = reason if row.problem is None else f"{row.problem}: {reason}"
    types = (row.dtype_in or _NOTHING, row.dtype_out or _NOTHING)
    named = (row.node, row.op_type, row.operator or _NOTHING)
    return (*(shortened(each, _LONGEST_CELL) for each in named), *types, marked)
