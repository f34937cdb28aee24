"""Inputs, outputs and gears as the main graph has them, where no partition lists them.

The rules are those by which GE fills MODEL_INOUT_INFO (model_introduction.cc).
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from ascendflow.documents.sizes import bytes_of
from ascendflow.om.inout_info import TENSOR_ITEMS, InOutInfo
from ascendflow.om.model_def import integers, operators, read_operator
from ascendflow.om.numbering import PROTO_DTYPES, named
from ascendflow.wire import LENGTH, NUMBER, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.documents.inspection import (
        AttributeItem,
        AttributeValue,
        InspectedTensor,
        OmGears,
    )
    from ascendflow.om.model_def import ModelDef, Operator
    from ascendflow.om.source import Source
    from ascendflow.wire import Field

_INPUTS = frozenset({"Data", "AippData", "AnnData"})
_OUTPUT, _CASE = "NetOutput", "Case"
_DTYPE, _SHAPE, _LAYOUT, _SIZE = 2, 3, 4, 10
"""Fields of TensorDescriptor."""
_KINDS: dict[int, Literal["batch", "image", "dims"]] = {1: "batch", 2: "image", 3: "dims"}
_OUT_NAMES = "attr_model_out_nodes_name"


def read_signature(source: Source, model: ModelDef) -> InOutInfo:
    """Read the ends of the main graph."""
    inputs: dict[int, InspectedTensor] = {}
    outputs: list[InspectedTensor] = []
    gears = None
    for kind, field in operators(source, model.graphs[0]) if model.graphs else ():
        if kind in _INPUTS:
            source.charge(field.start, items=TENSOR_ITEMS)
            index, tensor = _input(source, read_operator(source, model.names, field))
            inputs[len(inputs) if index is None else index] = tensor
        elif kind == _OUTPUT:
            found = read_operator(source, model.names, field)
            outputs += _outputs(source, found, model.attributes.get(_OUT_NAMES))
        elif kind == _CASE:
            gears = _gears(read_operator(source, model.names, field).attributes)
    return InOutInfo([inputs[index] for index in sorted(inputs)], outputs, gears)


def _input(source: Source, found: Operator) -> tuple[int | None, InspectedTensor]:
    described = (found.inputs or found.outputs)[:1]
    tensor = _tensor(source, found.name, described[0] if described else None)
    # Of a model with gears, the graph itself has the largest.
    if isinstance(origin := found.attributes.get("_mbatch_origin_input_dims"), list):
        tensor["shape"] = _integers(origin)
    if isinstance(aipp := found.attributes.get("input_dims"), list):
        tensor["aipp_shape"] = _integers(aipp)
    index = found.attributes.get("index")
    return index if isinstance(index, int) else None, tensor


def _outputs(
    source: Source, found: Operator, names: AttributeValue
) -> Iterator[InspectedTensor]:
    """Yield what goes into the graph's last operator, under the name that `atc` gave it."""
    given = names if isinstance(names, list) and len(names) == len(found.inputs) else None
    for position, described in enumerate(found.inputs):
        name = f"output_{position}"
        origin = found.sources[position : position + 1]
        for operator, index in origin:
            name = f"output_{position}_{operator}_{index}"
            if given and ":" not in str(given[position]):
                name = f"{given[position]}:{index}"
        if given and (not origin or ":" in str(given[position])):
            name = str(given[position])
        source.charge(described.start, items=TENSOR_ITEMS)
        yield _tensor(source, name, described)


def _tensor(source: Source, name: str, described: Field | None) -> InspectedTensor:
    tensor: InspectedTensor = {
        "name": name,
        "dtype": named(PROTO_DTYPES, 0),
        "shape": None if described is None else [],
        "format": None,
        "size": None,
        "ranges": [],
        "aipp_shape": None,
    }
    if described is None:
        return tensor
    for each in source.walk(described.content, described.stop):
        if each.number == _DTYPE and each.wire == NUMBER:
            tensor["dtype"] = named(PROTO_DTYPES, each.value)
        elif each.number == _SIZE and each.wire == NUMBER:
            tensor["size"] = signed(each.value)
        elif each.number == _SHAPE and each.wire == LENGTH:
            tensor["shape"] = [
                size
                for dims in source.walk(each.content, each.stop)
                if dims.number == 1
                for size in integers(source, dims)
            ]
        elif each.number == _LAYOUT and each.wire == LENGTH:
            tensor["format"] = source.text(each.content, each.stop)
    tensor["size"] = tensor["size"] or bytes_of(tensor["dtype"], tensor["shape"])
    return tensor


def _gears(attributes: Mapping[str, AttributeValue]) -> OmGears | None:
    kind = attributes.get("mbatch_dynamic_type")
    if not isinstance(kind, int) or kind not in _KINDS:
        return None
    values = []
    for index in count():
        row = attributes.get(f"_pred_value_{index}")
        if not isinstance(row, list):
            break
        values.append(_integers(row))
    order = attributes.get("user_designate_shape_order")
    names = [str(name) for name in order] if isinstance(order, list) else []
    return {"kind": _KINDS[kind], "values": values, "order": names}


def _integers(found: list[AttributeItem]) -> list[Any]:
    return [each for each in found if isinstance(each, int)]
