"""MODEL_DEF: protobuf's ModelDef, walked as far as it is asked for.

Operators are counted by type; only those at the ends of the main graph are looked into.
Read by hand and not with descriptors: protobuf would make objects of the whole message,
many times its size, and would not say where it is damaged.

Source: GE ge_ir.proto.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.om.attributes import Names, read_value
from ascendflow.om.enumerated import read_enumerated
from ascendflow.wire import LENGTH, NUMBER, Field, signed, varint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.inspection import AttributeValue, OmGraph
    from ascendflow.om.enumerated import Enumerated
    from ascendflow.om.partitions import Partition
    from ascendflow.om.source import Source

NAME, GRAPH, MODEL_ATTR = 1, 7, 11
_VERSION, _CUSTOM_VERSION = 2, 3
OP, OP_TYPE, OP_ATTR = 6, 2, 10
SRC_NAME, SRC_INDEX, INPUT_DESC, OUTPUT_DESC = 24, 25, 33, 34
"""Numbers of fields in ModelDef, GraphDef and OpDef."""


class ModelDef(NamedTuple):
    """What a MODEL_DEF says.

    Attributes:
        attributes: by name; compressed ones spelled out.
        counts: operators by type, graph by graph; the first is the main graph.
        graphs: where each lies, for `operators`.
        names: how attributes of its operators are named.
    """

    name: str
    version: int
    custom_version: str
    attributes: dict[str, AttributeValue]
    counts: list[OmGraph]
    graphs: list[Field]
    names: Names


def read_model_def(
    source: Source, partition: Partition, first: Enumerated | None
) -> tuple[ModelDef, Enumerated | None]:
    """Read a MODEL_DEF, and the lists that its attributes are compressed with.

    Args:
        source: the file.
        partition: where it lies.
        first: the lists of the file's first model, if this is another.
    """
    name, version, custom = "", 0, ""
    graphs: list[Field] = []
    entries: list[Field] = []
    for field in source.walk(partition.start, partition.stop):
        if field.number == NAME and field.wire == LENGTH:
            name = source.text(field.content, field.stop)
        elif field.number == _VERSION and field.wire == NUMBER:
            version = field.value
        elif field.number == _CUSTOM_VERSION and field.wire == LENGTH:
            custom = source.text(field.content, field.stop)
        elif field.number in (GRAPH, MODEL_ATTR) and field.wire == LENGTH:
            source.charge(field.start)
            (graphs if field.number == GRAPH else entries).append(field)
    lists = read_enumerated(source, _by_plain_name(source, entries))
    names = Names(source, tuple(each for each in (lists, first) if each is not None))
    attributes = dict(_attribute(source, names, entry) for entry in entries)
    counts = [_counted(source, graph) for graph in graphs]
    model = ModelDef(name, version, custom, attributes, counts, graphs, names)
    return model, lists


def operators(source: Source, graph: Field) -> Iterator[tuple[str, Field]]:
    """Yield type and place of each operator of a graph."""
    for field in source.walk(graph.content, graph.stop):
        if field.number == OP and field.wire == LENGTH:
            yield _type(source, field), field


class Operator(NamedTuple):
    """An operator at one end of a graph.

    Attributes:
        name: its own.
        attributes: by name, spelled out.
        inputs: the descriptions of its inputs.
        outputs: those of its outputs.
        sources: the operator that each input comes from, and which of its outputs.
    """

    name: str
    attributes: dict[str, AttributeValue]
    inputs: list[Field]
    outputs: list[Field]
    sources: list[tuple[str, int]]


def read_operator(source: Source, names: Names, field: Field) -> Operator:
    """Read one operator."""
    name = ""
    attributes: dict[str, AttributeValue] = {}
    inputs: list[Field] = []
    outputs: list[Field] = []
    src_names: list[str] = []
    src_indexes: list[int] = []
    for each in source.walk(field.content, field.stop):
        if each.number == SRC_INDEX:
            src_indexes += integers(source, each)
        elif each.wire != LENGTH:
            continue
        elif each.number == NAME:
            name = source.text(each.content, each.stop)
        elif each.number == SRC_NAME:
            src_names.append(source.text(each.content, each.stop))
        elif each.number == OP_ATTR:
            key, value = _attribute(source, names, each)
            attributes[key] = value
        elif each.number in (INPUT_DESC, OUTPUT_DESC):
            source.charge(each.start)
            (inputs if each.number == INPUT_DESC else outputs).append(each)
    sources = list(zip(src_names, src_indexes, strict=False))
    return Operator(name, attributes, inputs, outputs, sources)


def integers(source: Source, field: Field) -> Iterator[int]:
    """Yield the int64s of a repeated field, packed or one of them alone."""
    if field.wire == NUMBER:
        source.charge(field.start)
        yield signed(field.value)
    elif field.wire == LENGTH:
        at = field.content
        while at < field.stop:
            source.charge(at)
            value, at = varint(source.data, at, field.stop)
            yield signed(value)


def _attribute(source: Source, names: Names, entry: Field) -> tuple[str, AttributeValue]:
    key, value, texts = names.read(entry)
    source.charge(entry.start, len(key))
    return key.decode(errors="backslashreplace"), read_value(source, value, texts)


def _by_plain_name(source: Source, entries: list[Field]) -> dict[str, Field]:
    """Return where each AttrDef lies, by its key as it stands there."""
    found = {}
    for entry in entries:
        key, value = Names(source, ()).raw(entry)
        source.charge(entry.start, len(key))
        found[key.decode(errors="backslashreplace")] = value
    return found


def _counted(source: Source, graph: Field) -> OmGraph:
    name = ""
    counts: dict[str, int] = {}
    for field in source.walk(graph.content, graph.stop):
        if field.number == NAME and field.wire == LENGTH:
            name = source.text(field.content, field.stop)
    for kind, field in operators(source, graph):
        if kind not in counts:
            source.charge(field.start, len(kind))
        counts[kind] = counts.get(kind, 0) + 1
    return {"name": name, "operators": dict(sorted(counts.items()))}


def _type(source: Source, op: Field) -> str:
    """Return an operator's type, which writers put near its beginning."""
    for field in source.walk(op.content, op.stop):
        if field.number == OP_TYPE and field.wire == LENGTH:
            kept = source.data[field.content : min(field.stop, field.content + _LONGEST)]
            return kept.decode(errors="backslashreplace")
    return ""


_LONGEST = 1 << 8
"""Bytes of an operator's type."""
