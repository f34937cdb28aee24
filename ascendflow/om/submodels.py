"""OM files inside an OM file: the models of a flow, and those of a bundle.

Source: GE flow_model.proto (SubmodelDef) and model_helper.cc (SaveBundleModelBufferToMem).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.om.header import MAGIC
from ascendflow.wire import LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ascendflow.om.partitions import Partition, Table
    from ascendflow.om.source import Source

FLOW_SUBMODEL, BUNDLE_MODEL_INFO = "FLOW_SUBMODEL", "BUNDLE_MODEL_INFO"
NAME, TYPE, OM_DATA = 1, 2, 3
"""Fields of SubmodelDef."""


class Place(NamedTuple):
    """Where an OM lies inside a file."""

    name: str
    type: str
    start: int
    stop: int


def find(source: Source, tables: Iterable[Table]) -> Iterator[Place]:
    """Yield each OM in partitions of `tables`; other things may lie there too."""
    for table in tables:
        for partition in table.partitions:
            if partition.name == FLOW_SUBMODEL:
                yield from in_flow(source, partition)
            elif partition.name == BUNDLE_MODEL_INFO:
                yield Place("", "", partition.start, partition.stop)


def in_flow(source: Source, partition: Partition) -> Iterator[Place]:
    """Yield the OM of a flow's sub-model, or nothing."""
    name = kind = ""
    om = None
    for field in source.walk(partition.start, partition.stop):
        if field.number == NAME and field.wire == LENGTH:
            name = source.text(field.content, field.stop)
        elif field.number == TYPE and field.wire == LENGTH:
            kind = source.text(field.content, field.stop)
        elif field.number == OM_DATA and field.wire == LENGTH:
            om = field
    # Functions of a user are no OM.
    if om is not None and source.data[om.content : om.content + len(MAGIC)] == MAGIC:
        yield Place(name, kind, om.content, om.stop)
