"""Which ONNX nodes and tensors a device operator computes.

Read from the JSON that `atc --mode=1` makes of an OM: its operators tell the names that
they had before the graph was optimised. A fused operator has several, one that the
compiler inserted has none. Source: msprobe 26.2 fusion_rule_parser.py.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_NODES = "_datadump_original_op_names"
_GROUP = "_L1_fusion_sub_graph_no"
_NODE, _INDEX = "_datadump_origin_name", "_datadump_origin_output_index"
_LAYOUTS = "_datadump_origin_format", "origin_format"
_SHAPE = "origin_shape"


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
    """

    name: str
    op_type: str
    nodes: tuple[str, ...]
    group: str
    outputs: tuple[Output, ...]

    @property
    def label(self) -> str:
        """How the operator is called: by its group, its nodes, or its own name."""
        if self.group:
            return f"group {self.group}"
        return " + ".join(self.nodes) or self.name


def device_ops(path: Path) -> tuple[DeviceOp, ...]:
    """Read the operators of all graphs of the JSON of an OM.

    Raises:
        StageError: it is not such a JSON.
    """
    import json

    try:
        document = json.loads(path.read_bytes())
        found = tuple(_op(op) for graph in document["graph"] for op in graph.get("op", ()))
    except (OSError, ValueError, RecursionError) as error:
        raise StageError(f"{path}: cannot be read: {error}") from error
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise StageError(
            f"{path}: is not what `atc --mode=1` makes of an OM: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not found:
        raise StageError(f"{path}: has no operators")
    return found


def tensors(
    ops: Iterable[DeviceOp], outputs: Mapping[str, Sequence[str]]
) -> dict[tuple[str, int], str]:
    """Return which ONNX tensor each output of the device operators is.

    An output that two operators claim, neither by the compiler's word, is nobody's: of a
    node that became several operators only the last has its output.

    Args:
        ops: of an OM.
        outputs: of the ONNX graph: node name -> names of its outputs.

    Returns:
        (device operator's name, number of the output) -> name of the ONNX tensor.
    """
    places = [
        (op.name, number, output)
        for op in ops
        for number, output in enumerate(op.outputs)
        if 0 <= output.index < len(outputs.get(output.node, ()))
    ]
    told = {_claim(output) for _, _, output in places if output.told}
    claims = Counter(_claim(output) for _, _, output in places if not output.told)
    return {
        (name, number): outputs[output.node][output.index]
        for name, number, output in places
        if output.told or (_claim(output) not in told and claims[_claim(output)] == 1)
    }


def _claim(output: Output) -> tuple[str, int]:
    return output.node, output.index


def _op(op: Mapping[str, Any]) -> DeviceOp:
    name, attributes = _text(op["name"]), _attributes(op)
    nodes: tuple[str, ...] = (name,)  # of an operator that keeps its name, e.g. an input
    if _NODES in attributes:
        named = attributes[_NODES].get("list", {}).get("s", ())
        nodes = tuple(filter(None, map(_text, named)))
    group = _text(attributes.get(_GROUP, {}).get("s", ""))
    descriptions = op.get("output_desc", ())
    only = nodes[0] if len(nodes) == 1 else ""
    found = tuple(_output(each, i, only) for i, each in enumerate(descriptions))
    return DeviceOp(name, _text(op["type"]), nodes, group, found)


def _output(description: Mapping[str, Any], number: int, only: str) -> Output:
    attributes = _attributes(description)
    node = _text(attributes.get(_NODE, {}).get("s", ""))
    index = int(attributes.get(_INDEX, {}).get("i", number))
    layouts = [_text(attributes[key].get("s", "")) for key in _LAYOUTS if key in attributes]
    shape = attributes.get(_SHAPE, {}).get("list")
    sizes = None if shape is None else tuple(int(size) for size in shape.get("i", ()))
    layout = next(filter(None, layouts), "")
    return Output(node or only, index, bool(node), layout, sizes)


def _attributes(owner: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {_text(each["key"]): each.get("value", {}) for each in owner.get("attr", ())}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
