"""What the emulator has no model of; found for all nodes before anything is edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir as ir

from ascendflow.cann.detection import Found
from ascendflow.cann.types import floating
from ascendflow.errors import NotModelledError, StageError
from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.nodes import bodies_of, label
from ascendflow.graph.operators import DEFAULT_DOMAINS, RANDOM_OPERATORS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHOWN = 20

_PLAIN = FLOATS | {
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


def refuse_opset(opset: int | None) -> None:
    """Refuse an opset that CANN parses and the emulator cannot spell its roundings in.

    Raises:
        NotModelledError: opset 8, where saturation cannot be spelled.
    """
    if opset is not None and opset < 9:
        raise NotModelledError(
            f"convert: the emulator has no model of opset {opset}, only 9 on"
        )


def node_gaps(node: ir.Node) -> Iterator[Found]:
    """Say why `node` is beyond the emulator, judged by its operator and its types.

    Of other domains and of operators without a parser, lint says that CANN refuses them.
    """
    if node.domain not in DEFAULT_DOMAINS:
        return
    if node.op_type in RANDOM_OPERATORS:
        yield Found("random operators are not modelled", "unknown")
        return
    yield from _type_gaps(node)
    bodies = [
        body
        for body in bodies_of(node)
        if any(_handles_floats(inner) for inner in body.all_nodes())
    ]
    if bodies:
        yield Found(
            f"floating tensors inside {', '.join(str(body.name) for body in bodies)}",
            "unknown",
        )


def raise_gaps(
    gaps: Sequence[tuple[ir.Node | None, Found]], version: str, advice: Sequence[str] = ()
) -> None:
    """Raise one error that lists every node in `gaps`; do nothing where there is none.

    Args:
        gaps: the nodes, None for the whole model, and why each cannot be lowered.
        version: of CANN.
        advice: what to do about those that CANN refuses.

    Raises:
        StageError: CANN itself refuses at least one; its list comes first.
        NotModelledError: CANN refuses none, and the emulator has no model of some.
    """
    refused = [pair for pair in gaps if pair[1].consequence == "rejected"]
    unknown = [pair for pair in gaps if pair[1].consequence != "rejected"]
    if not gaps:
        return
    unknown_text = f"the emulator has no model of:\n{_listed(unknown)}"
    if refused:
        text = f"convert: CANN {version} refuses:\n{_listed(refused)}"
        raise StageError(
            f"{text}\nand {unknown_text}" if unknown else text,
            hint="; ".join(advice) or None,
        )
    hint = "change these nodes, or try another convert.precision_mode"
    raise NotModelledError(f"convert: {unknown_text}", hint="; ".join([*advice, hint]))


def _listed(gaps: Sequence[tuple[ir.Node | None, Found]]) -> str:
    lines = [
        gap.reason
        if node is None
        else f"node {label(node)!r} ({node.op_type}): {gap.reason}"
        for node, gap in gaps
    ]
    more = [f"... and {len(lines) - SHOWN} more nodes"] if len(lines) > SHOWN else []
    return "\n".join(f"  {line}" for line in [*lines[:SHOWN], *more])


def _type_gaps(node: ir.Node) -> Iterator[Found]:
    for value in (*node.inputs, *node.outputs):
        if value is None or (not value.name and not value.uses()):
            continue
        if not isinstance(value.type, ir.TensorType):
            kind = "unknown type" if value.type is None else str(value.type)
            yield Found(f"tensor {value.name!r} is of {kind}", "unknown")
        elif value.dtype not in _PLAIN:
            yield Found(f"tensor {value.name!r} is {_spell(value.dtype)}", "unknown")
    halves = [v for v in node.outputs if v.dtype == ir.DataType.FLOAT16]
    if halves and "dtype" in node.attributes:
        yield Found("its attribute dtype asks for float16", "unknown")
    if node.op_type == "CastLike" and any(True for _ in floating(node)):
        yield Found("CastLike of floating tensors; spell it Cast", "unknown")


def _handles_floats(node: ir.Node) -> bool:
    return any(True for _ in floating(node))


def _spell(dtype: ir.DataType | None) -> str:
    names = {"DOUBLE": "float64"}
    name = "unknown" if dtype is None else dtype.name
    return names.get(name, name.lower())
