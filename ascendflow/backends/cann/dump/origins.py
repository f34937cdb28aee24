"""Which ONNX nodes and tensors a device operator computes.

Read from the OM itself, of which `atc --mode=1` makes the JSON that Ascend's tools read:
its operators tell the names that they had before the graph was optimised. A fused operator
has several, one that the compiler inserted has none. Source: msprobe 26.2
fusion_rule_parser.py, om_parser.py.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ascendflow.errors import StageError
from ascendflow.om.operators import read_operators

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ascendflow.documents.inspection import AttributeValue
    from ascendflow.om.operators import OmOperator

    Attributes = Mapping[str, AttributeValue]

T = TypeVar("T")

_NODES = "_datadump_original_op_names"
_GROUP = "_L1_fusion_sub_graph_no"
_NODE, _INDEX = "_datadump_origin_name", "_datadump_origin_output_index"
_LAYOUTS = "_datadump_origin_format", "origin_format"
_SHAPE = "origin_shape"
_WANTED = frozenset({_NODES, _GROUP, _NODE, _INDEX, *_LAYOUTS, _SHAPE})


@dataclass(frozen=True, slots=True)
class Output:
    """An output of a device operator.

    Attributes:
        node: the ONNX node whose output it is; empty where nothing tells one.
        index: which output of that node.
        told: whether the compiler says so of this very output.
        layout: of the origin, e.g. "NCHW"; empty where not told.
        shape: of the origin; None where not told.
    """

    node: str
    index: int
    told: bool
    layout: str
    shape: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class DeviceOp:
    """One operator of the OM.

    Attributes:
        name: on the device.
        op_type: on the device.
        nodes: ONNX nodes that it computes; empty if the compiler inserted it.
        group: of a fusion in the first cache, whose operators are one; else empty.
        outputs: in order.
        subgraphs: names of the graphs that it calls.
        graph: which of the OM's graphs it is in; branches, as of gears, are one each.
    """

    name: str
    op_type: str
    nodes: tuple[str, ...]
    group: str
    outputs: tuple[Output, ...]
    subgraphs: tuple[str, ...] = ()
    graph: int = 0

    @property
    def label(self) -> str:
        """How the operator is called: by its group, its nodes, or its own name."""
        if self.group:
            return f"group {self.group}"
        return " + ".join(self.nodes) or self.name


def device_ops(path: Path) -> tuple[DeviceOp, ...]:
    """Read the operators of all graphs of an OM; of one without graphs, none.

    Raises:
        StageError: it is no whole OM, or says of an operator what is none of its kind.
    """
    try:
        return tuple(_op(each) for each in read_operators(path, _WANTED))
    except _UnlikeError as error:
        raise StageError(f"{path}: {error}", hint=_HINT) from error


def node_ops(ops: Iterable[DeviceOp]) -> dict[str, str]:
    """Return ONNX node -> the operators that compute it; one that is fused names all."""
    found: dict[str, dict[str, None]] = {}
    for op in ops:
        is_fused = bool(op.group) or len(op.nodes) > 1
        said = f"{op.op_type} ({op.label})" if is_fused else op.op_type
        for node in op.nodes:
            found.setdefault(node, {})[said] = None
    return {node: ", ".join(said) for node, said in sorted(found.items())}


def tensors(
    ops: Iterable[DeviceOp], outputs: Mapping[str, Sequence[str]]
) -> dict[tuple[str, int], str]:
    """Return which ONNX tensor each output of the device operators is.

    An output that two operators of a graph claim, neither by the compiler's word, is
    nobody's: of a node that became several operators only the last has its output.

    Args:
        ops: of an OM.
        outputs: of the ONNX graph: node name -> names of its outputs.

    Returns:
        (device operator's name, number of the output) -> name of the ONNX tensor.
    """
    places = [
        (op.name, number, (op.graph, output.node, output.index), output)
        for op in ops
        for number, output in enumerate(op.outputs)
        if 0 <= output.index < len(outputs.get(output.node, ()))
    ]
    told = {claim for *_, claim, output in places if output.told}
    claims = Counter(claim for *_, claim, output in places if not output.told)
    return {
        (name, number): outputs[output.node][output.index]
        for name, number, claim, output in places
        if output.told or (claim not in told and claims[claim] == 1)
    }


def _op(op: OmOperator) -> DeviceOp:
    nodes: tuple[str, ...] = (op.name,)  # of one that keeps its name, e.g. an input
    if _NODES in op.attributes:
        nodes = tuple(filter(None, _list(op.attributes, _NODES, str)))
    group = _text(op.attributes, _GROUP)
    only = nodes[0] if len(nodes) == 1 else ""
    found = tuple(_output(each, i, only) for i, each in enumerate(op.outputs))
    return DeviceOp(op.name, op.type, nodes, group, found, op.subgraphs, op.graph)


def _output(said: Attributes, number: int, only: str) -> Output:
    node, index = _text(said, _NODE), said.get(_INDEX, number)
    shape = None if _SHAPE not in said else _list(said, _SHAPE, int)
    layout = next(filter(None, (_text(said, key) for key in _LAYOUTS)), "")
    if not isinstance(index, int):
        raise _UnlikeError(_INDEX, index)
    return Output(node or only, index, bool(node), layout, shape)


class _UnlikeError(Exception):
    """An attribute's value is of another kind than it has by its definition."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__(f"the attribute {name} has the value {value!r}")


_HINT = "take the OM that ATC wrote; where it is that, no tensors inside can be compared"


def _text(said: Attributes, name: str) -> str:
    value = said.get(name)
    if not isinstance(value, str | None):
        raise _UnlikeError(name, value)
    return value or ""


def _list(said: Attributes, name: str, kind: type[T]) -> tuple[T, ...]:
    value = [] if said[name] is None else said[name]
    if not isinstance(value, list):
        raise _UnlikeError(name, value)
    found = tuple(each for each in value if isinstance(each, kind))
    if len(found) != len(value):
        raise _UnlikeError(name, value)
    return found
