"""All operators of an OM, each with the few attributes that are asked for.

Source: GE ge_ir.proto (OpDef, TensorDescriptor).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.om.attributes import read_value
from ascendflow.om.header import read_header
from ascendflow.om.model_def import (
    NAME,
    OP_ATTR,
    OUTPUT_DESC,
    operators,
    read_model_def,
)
from ascendflow.om.partitions import read_tables
from ascendflow.om.source import opened
from ascendflow.wire import LENGTH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from ascendflow.documents.inspection import AttributeValue
    from ascendflow.om.attributes import Names
    from ascendflow.om.model_def import ModelDef
    from ascendflow.om.source import Source
    from ascendflow.wire import Field

    Attributes = dict[str, AttributeValue]

SUBGRAPH_NAME, DESC_ATTR = 35, 5
"""Numbers of fields in OpDef and TensorDescriptor."""


class OmOperator(NamedTuple):
    """One operator.

    Attributes:
        graph: which of the file's graphs it is in, counted through.
        name: its own.
        type: its kind.
        subgraphs: names of the graphs that it calls.
        attributes: of it, by name.
        outputs: the attributes of each output's description.
    """

    graph: int
    name: str
    type: str
    subgraphs: tuple[str, ...]
    attributes: dict[str, AttributeValue]
    outputs: tuple[dict[str, AttributeValue], ...]


def read_operators(path: Path, wanted: Collection[str]) -> list[OmOperator]:
    """Read the operators of all graphs; of a file for small chips, none.

    Args:
        path: the OM.
        wanted: names of the attributes to read, whole.

    Raises:
        StageError: it is no OM, or is damaged.
    """
    with opened(path) as source:
        graphs = ((each, model) for model in _models(source) for each in model.graphs)
        return [
            OmOperator(number, *_operator(source, model.names, kind, field, wanted))
            for number, (graph, model) in enumerate(graphs)
            for kind, field in operators(source, graph)
        ]


def _models(source: Source) -> Iterator[ModelDef]:
    header = read_header(source, 0, source.size)
    first = None
    for index, table in enumerate(read_tables(source, header, 0, source.size)):
        if (partition := table.find("MODEL_DEF")) is not None:
            model, lists = read_model_def(source, partition, first)
            first = lists if index == 0 else first
            yield model


def _operator(
    source: Source, names: Names, kind: str, field: Field, wanted: Collection[str]
) -> tuple[str, str, tuple[str, ...], Attributes, tuple[Attributes, ...]]:
    name, subgraphs = "", []
    attributes: dict[str, AttributeValue] = {}
    outputs = []
    # What is read stands in the file, each thing once: nothing to hold an account of.
    with source.lent():
        for each in source.walk(field.content, field.stop):
            if each.wire != LENGTH:
                continue
            if each.number == NAME:
                name = source.text(each.content, each.stop)
            elif each.number == SUBGRAPH_NAME:
                subgraphs.append(source.text(each.content, each.stop))
            elif each.number == OP_ATTR:
                attributes.update(_attribute(source, names, each, wanted))
            elif each.number == OUTPUT_DESC:
                outputs.append(_description(source, names, each, wanted))
    return name, kind, tuple(subgraphs), attributes, tuple(outputs)


def _description(
    source: Source, names: Names, field: Field, wanted: Collection[str]
) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {}
    for each in source.walk(field.content, field.stop):
        if each.number == DESC_ATTR and each.wire == LENGTH:
            found.update(_attribute(source, names, each, wanted))
    return found


def _attribute(
    source: Source, names: Names, entry: Field, wanted: Collection[str]
) -> dict[str, AttributeValue]:
    key, value, texts = names.read(entry)
    name = key.decode(errors="backslashreplace")
    if name not in wanted:
        return {}
    return {name: read_value(source, value, texts, whole=True)}
