"""All that an OM file says of itself, but its weights and kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.om import submodels
from ascendflow.om.header import read_header
from ascendflow.om.inout_info import InOutInfo, read_inout_info
from ascendflow.om.model_def import ModelDef, read_model_def
from ascendflow.om.numbering import FRAMEWORKS, named
from ascendflow.om.partitions import Table, read_tables
from ascendflow.om.signature import read_signature
from ascendflow.wire import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.documents.inspection import (
        AttributeValue,
        InspectedTensor,
        OmContents,
        OmHeader,
        OmModel,
        OmSubmodel,
    )
    from ascendflow.om.enumerated import Enumerated
    from ascendflow.om.source import Source

_MEMORY = "_size"
"""How the names of attributes end that are sizes in bytes."""


class Om(NamedTuple):
    """What an OM says, and the inputs and outputs of its first model."""

    inputs: list[InspectedTensor]
    outputs: list[InspectedTensor]
    contents: OmContents


class _One(NamedTuple):
    """One OM: the file's own, or one inside of it."""

    header: OmHeader
    tables: list[Table]
    models: list[OmModel]
    signature: InOutInfo


def read_om(source: Source) -> Om:
    """Read a whole file.

    Raises:
        MalformedError: it is no OM, or is damaged; nothing is given of it then.
    """
    outer = _read_one(source, 0, source.size)
    inner = [_submodel(source, place) for place in submodels.find(source, outer.tables)]
    first = outer.models[0]["attributes"]
    contents: OmContents = {
        "header": outer.header,
        "atc_command_line": _text(first, "atc_cmdline"),
        "atc_version": _text(first, "atc_version"),
        "opp_version": _text(first, "opp_version"),
        "soc_version": _text(first, "soc_version"),
        "framework": _framework(first),
        "gears": outer.signature.gears,
        "memory": {
            name: value
            for name, value in sorted(first.items())
            if name.endswith(_MEMORY) and isinstance(value, int)
        },
        "models": outer.models,
        "submodels": inner,
    }
    return Om(outer.signature.inputs, outer.signature.outputs, contents)


def _submodel(source: Source, place: submodels.Place) -> OmSubmodel:
    inner = _read_one(source, place.start, place.stop)
    source.charge(place.start, items=24)
    return {
        "name": place.name,
        "type": place.type,
        "offset": place.start,
        "size": place.stop - place.start,
        "header": inner.header,
        "models": inner.models,
    }


def _read_one(source: Source, start: int, stop: int) -> _One:
    header = read_header(source, start, stop)
    tables = read_tables(source, header, start, stop)
    signature = None
    models: list[OmModel] = []
    first: Enumerated | None = None
    for index, table in enumerate(tables):
        model, lists = _model_def(source, table, first)
        first = lists if index == 0 else first
        models.append(_model(source, table, model))
        if index == 0:
            signature = _signature(source, table, model)
    return _One(header, tables, models, signature or InOutInfo([], [], None))


def _model_def(
    source: Source, table: Table, first: Enumerated | None
) -> tuple[ModelDef | None, Enumerated | None]:
    """Read a table's MODEL_DEF; bundles and files for small chips have none."""
    if (partition := table.find("MODEL_DEF")) is not None:
        return read_model_def(source, partition, first)
    if not any(table.find(kind) for kind in ("BUNDLE_MODEL_INFO", "PRE_MODEL_DESC")):
        raise MalformedError(table.start, "a table has no MODEL_DEF")
    return None, None


def _signature(source: Source, table: Table, model: ModelDef | None) -> InOutInfo:
    info = table.find("MODEL_INOUT_INFO")
    if info is not None and info.stop > info.start:
        return read_inout_info(source, info)
    return InOutInfo([], [], None) if model is None else read_signature(source, model)


def _model(source: Source, table: Table, model: ModelDef | None) -> OmModel:
    source.charge(table.start, items=8)
    return {
        "table_offset": table.start,
        "table_size": table.size,
        "padding": table.padding,
        "partitions": [
            {"type": each.name, "offset": each.start, "size": each.stop - each.start}
            for each in table.partitions
        ],
        "name": model.name if model else "",
        "version": model.version if model else 0,
        "custom_version": model.custom_version if model else "",
        "attributes": model.attributes if model else {},
        "graphs": model.counts if model else [],
    }


def _text(attributes: Mapping[str, AttributeValue], name: str) -> str | None:
    value = attributes.get(name)
    return value if isinstance(value, str) and value else None


def _framework(attributes: Mapping[str, AttributeValue]) -> str | None:
    value = attributes.get("framework_type")
    number = value if isinstance(value, int) else None
    if isinstance(value, str) and value.isdecimal() and len(value) < 9:
        number = int(value)
    return named(FRAMEWORKS, number) if number is not None else None
