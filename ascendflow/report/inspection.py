"""An inspection as lines of text; what a file says is data, so nothing of it is obeyed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.report.words import EMULATED, counted
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ascendflow.documents.inspection import (
        AttributeValue,
        EmulatedContents,
        InspectedTensor,
        Inspection,
        OmContents,
        OmHeader,
        OmModel,
        OnnxContents,
    )

_WIDTH = 14
_KINDS = {"om": "OM", "onnx": "ONNX", "emulated": f"emulator's artifact ({EMULATED})"}
_SHOWN_TEXT = 160
_SHOWN_ITEMS = 8


def inspection_lines(found: Inspection) -> Iterator[str]:
    """Tell a whole inspection."""
    for line in _lines(found):
        yield printable(line)


def _lines(found: Inspection) -> Iterator[str]:
    yield f"{found['file']}: {_KINDS[found['kind']]}, {found['size']} bytes"
    yield from _rows({"sha256": found["sha256"], "normalised": found["normalised_sha256"]})
    if found["om"] is not None:
        yield from _om(found["om"])
    if found["onnx"] is not None:
        yield from _onnx(found["onnx"])
    if found["emulated"] is not None:
        yield from _emulated(found["emulated"])
    yield from _tensors("inputs", found["inputs"])
    yield from _tensors("outputs", found["outputs"])
    if found["om"] is not None:
        yield from _models(found["om"]["models"])
        for inner in found["om"]["submodels"]:
            name = " ".join(part for part in (inner["name"], inner["type"]) if part)
            place = f"at byte {inner['offset']}, {inner['size']} bytes"
            yield f"OM inside: {name or 'no name'}, {place}"
            yield from _rows({"header": _header(inner["header"])})
            yield from _models(inner["models"])


def _rows(rows: Mapping[str, object]) -> Iterator[str]:
    """Give each its line; what is not known has none."""
    for name, value in rows.items():
        if value not in (None, ""):
            yield f"  {name:{_WIDTH}}{value}"


def _om(om: OmContents) -> Iterator[str]:
    yield from _rows(
        {
            "header": _header(om["header"]),
            "command line": om["atc_command_line"],
            "atc": om["atc_version"],
            "opp": om["opp_version"],
            "SoC": om["soc_version"],
            "framework": om["framework"],
            "memory": ", ".join(f"{name} {size}" for name, size in om["memory"].items()),
        }
    )
    if (gears := om["gears"]) is not None:
        values = "; ".join(",".join(map(str, row)) for row in gears["values"])
        order = f" (of {', '.join(gears['order'])})" if gears["order"] else ""
        yield from _rows({"gears": f"{gears['kind']}: {values}{order}"})


def _header(header: OmHeader) -> str:
    shown = [f"version {header['version']}", f"type {header['model_type']}"]
    if header["name"]:
        shown.append(f"name {header['name']}")
    shown.append(counted(max(header["model_num"], 1), "model"))
    if header["is_unknow_model"]:
        shown.append("dynamic shape")
    if header["need_check_os_cpu_info"]:
        shown.append("for one kind of host only")
    return ", ".join(shown)


def _models(models: Iterable[OmModel]) -> Iterator[str]:
    for index, model in enumerate(models):
        name = f" {model['name']}" if model["name"] else ""
        yield f"model {index}{name}: table at byte {model['table_offset']}"
        for part in model["partitions"]:
            yield f"  {part['type']:22}{part['size']:>12} bytes at {part['offset']}"
        if model["padding"]:
            yield f"  {'padding':22}{model['padding']:>12} bytes"
        for graph in model["graphs"]:
            yield f"  graph {graph['name']}: {_counts(graph['operators'])}"
        for name, value in model["attributes"].items():
            yield f"  {name} = {_value(value)}"


def _value(value: AttributeValue) -> str:
    if isinstance(value, dict):
        count = "" if value["count"] is None else f" of {value['count']}"
        return f"{value['type']}{count}, {value['size']} bytes, sha256 {value['sha256']}"
    if isinstance(value, list):
        shown = ", ".join(_value(each) for each in value[:_SHOWN_ITEMS])
        more = len(value) - _SHOWN_ITEMS
        return f"[{shown}{f', and {more} more' if more > 0 else ''}]"
    text = "" if value is None else str(value)
    if len(text) <= _SHOWN_TEXT:
        return text
    return f"{text[:_SHOWN_TEXT]}... ({len(text)} characters)"


def _tensors(word: str, tensors: Iterable[InspectedTensor]) -> Iterator[str]:
    tensors = list(tensors)
    yield f"{word}: {len(tensors) or 'none'}"
    for each in tensors:
        layout = f" {each['format']}" if each["format"] else ""
        size = f", {each['size']} bytes" if each["size"] is not None else ""
        ranges = f", ranges {each['ranges']}" if each["ranges"] else ""
        aipp = f", behind AIPP {each['aipp_shape']}" if each["aipp_shape"] else ""
        shape = _shape(each["shape"])
        yield f"  {each['name']}: {each['dtype']} {shape}{layout}{size}{ranges}{aipp}"


def _shape(shape: list[int | str | None] | None) -> str:
    if shape is None:
        return "of unknown rank"
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def _onnx(onnx: OnnxContents) -> Iterator[str]:
    constants = f"{onnx['constants']}, {onnx['constant_bytes']} bytes"
    files = ", ".join(onnx["external_files"])
    yield from _rows(
        {
            "IR version": onnx["ir_version"],
            "producer": onnx["producer"],
            "opsets": ", ".join(f"{name} {v}" for name, v in onnx["opsets"].items()),
            "functions": onnx["functions"] or None,
            "initializers": f"{onnx['initializers']}, {onnx['initializer_bytes']} bytes",
            "constants": constants if onnx["constants"] else None,
            "beside it": f"{onnx['external_bytes']} bytes of these, in {files}"
            if onnx["external_bytes"]
            else None,
            "operators": _counts(onnx["operators"]),
        }
    )


def _emulated(found: EmulatedContents) -> Iterator[str]:
    target = f"CANN {found['cann']}, {found['soc_version']}, {found['precision_mode']}"
    yield from _rows(
        {
            "target": target,
            "behaviour": found["behaviour"],
            "beside it": "the other thing CANN may do" if found["alternative"] else None,
            "weights": f"{found['weights_bytes']} bytes"
            if found["weights_bytes"]
            else None,
        }
    )
    yield from _onnx(found["graph"])


def _counts(operators: Mapping[str, int]) -> str:
    ordered = sorted(operators.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{count} {name}" for name, count in ordered) or "no operators"
