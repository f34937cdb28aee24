"""What the emulator has no model of; found for all nodes before anything is edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir as ir

from ascendflow.cann.gap import Gap
from ascendflow.errors import NotModelledError, StageError
from ascendflow.graph.nodes import label
from ascendflow.graph.operators import DEFAULT_DOMAINS, RANDOM_OPERATORS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ascendflow.cann.profile import Profile

SHOWN = 20

_FLOATING = frozenset({ir.DataType.FLOAT, ir.DataType.FLOAT16})
_PLAIN = _FLOATING | {
    ir.DataType.BOOL,
    ir.DataType.INT8,
    ir.DataType.INT16,
    ir.DataType.INT32,
    ir.DataType.INT64,
    ir.DataType.UINT8,
    ir.DataType.UINT16,
    ir.DataType.UINT32,
    ir.DataType.UINT64,
}

_QUANTISED = frozenset(
    {
        "ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger",
        "QLinearConv", "QLinearMatMul", "QuantizeLinear",
    }
)  # fmt: skip


def refuse_model(model: ir.Model, opset: int | None, profile: Profile) -> None:
    """Refuse what no node can be blamed for.

    Raises:
        StageError: no CANN of that version has a parser for the opset.
        NotModelledError: opset 8, where saturation cannot be spelled, or local functions.
    """
    low, high = profile.opsets
    if opset is None or not low <= opset <= high:
        raise StageError(
            f"convert: CANN {profile.version} parses opsets {low} to {high}, not {opset}",
            hint="export for such an opset: `export: {opset: 15}` where the source is"
            " PyTorch; for an ONNX file onnx.version_converter.convert_version(model, 15)"
            " may do, which can change values: compare its outputs with the old file's",
        )
    if opset < 9:
        raise NotModelledError(
            f"convert: the emulator has no model of opset {opset}, only 9 on"
        )
    if model.functions:
        names = ", ".join(sorted(str(identifier[1]) for identifier in model.functions))
        raise NotModelledError(
            f"convert: the emulator has no model of the local functions {names}",
            hint="inline them with onnx.inliner before the pipeline",
        )


def node_gaps(node: ir.Node) -> Iterator[Gap]:
    """Say why `node` is beyond the emulator, judged by its operator and its types."""
    if node.domain not in DEFAULT_DOMAINS:
        yield Gap(f"its domain {node.domain!r} is not ONNX's own")
        return
    if node.op_type in _QUANTISED:
        yield Gap("quantised operators are not modelled")
        return
    if node.op_type in RANDOM_OPERATORS:
        yield Gap("random operators are not modelled")
        return
    yield from _type_gaps(node)
    bodies = [
        graph
        for attribute in node.attributes.values()
        for graph in _graphs(attribute)
        if any(_handles_floats(inner) for inner in graph.all_nodes())
    ]
    if bodies:
        yield Gap(f"floating tensors inside {', '.join(str(g.name) for g in bodies)}")


def raise_gaps(gaps: Sequence[tuple[ir.Node, Gap]], version: str) -> None:
    """Raise one error that lists every node in `gaps`; do nothing where there is none.

    Raises:
        NotModelledError: the emulator has no model of at least one node.
        StageError: CANN itself refuses all of them.
    """
    if not gaps:
        return
    lines = [f"node {label(node)!r} ({node.op_type}): {gap.reason}" for node, gap in gaps]
    more = [f"... and {len(lines) - SHOWN} more nodes"] if len(lines) > SHOWN else []
    listed = "\n".join(f"  {line}" for line in [*lines[:SHOWN], *more])
    if all(gap.refused for _, gap in gaps):
        raise StageError(f"convert: CANN {version} refuses:\n{listed}")
    raise NotModelledError(
        f"convert: the emulator has no model of:\n{listed}",
        hint="change these nodes, or try another convert.precision_mode",
    )


def floating(node: ir.Node) -> Iterator[ir.Value]:
    """Give the floating tensors that `node` reads and makes."""
    for value in (*node.inputs, *node.outputs):
        if value is not None and value.dtype in _FLOATING:
            yield value


def _type_gaps(node: ir.Node) -> Iterator[Gap]:
    for value in (*node.inputs, *node.outputs):
        if value is None or (not value.name and not value.uses()):
            continue
        if not isinstance(value.type, ir.TensorType):
            kind = "unknown type" if value.type is None else str(value.type)
            yield Gap(f"tensor {value.name!r} is of {kind}")
        elif value.dtype not in _PLAIN:
            yield Gap(f"tensor {value.name!r} is {_spell(value.dtype)}")
    halves = [v for v in node.outputs if v.dtype == ir.DataType.FLOAT16]
    if halves and "dtype" in node.attributes:
        yield Gap("its attribute dtype asks for float16")
    if node.op_type == "CastLike" and any(True for _ in floating(node)):
        yield Gap("CastLike of floating tensors; spell it Cast")


def _graphs(attribute: ir.Attr) -> list[ir.Graph]:
    if attribute.type == ir.AttributeType.GRAPH:
        return [attribute.as_graph()]
    if attribute.type == ir.AttributeType.GRAPHS:
        return list(attribute.as_graphs())
    return []


def _handles_floats(node: ir.Node) -> bool:
    return any(True for _ in floating(node))


def _spell(dtype: ir.DataType | None) -> str:
    names = {"DOUBLE": "float64"}
    name = "unknown" if dtype is None else dtype.name
    return names.get(name, name.lower())
