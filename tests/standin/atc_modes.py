"""Modes of the stand-in of `atc.bin` that read an OM: 1 writes its JSON, 6 shows it.

The file is read by the public layout alone, with the protobuf reader of `atc_operators`.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from atc_operators import fields


def show(path: str, say: Any) -> None:
    """Print what the OM says of itself."""
    with open(path, "rb") as file:
        model = model_of(file.read())
    say("============ Display Model Info start ============")
    said = {each["key"]: each["value"].get("s", "") for each in model["attr"]}
    say("Original Atc command line: " + said["atc_cmdline"])
    say(
        "system   info: atc_version[{}], soc_version[{}], framework_type[Onnx].".format(
            said["atc_version"], said["soc_version"]
        )
    )
    say("============ Display Model Info end   ============")


def write_json(path: str, target: str) -> None:
    """Write the JSON that Ascend's tools read."""
    with open(path, "rb") as file:
        model = model_of(file.read())
    with open(target, "w", encoding="utf-8") as file:
        json.dump(model, file)


def model_of(om: bytes) -> dict[str, Any]:
    """Read name, attributes and graphs of an OM's model definition."""
    (count,) = struct.unpack_from("<I", om, 256)
    kind, offset, size = struct.unpack_from("<I4xQQ", om, 256 + 8)
    assert kind == 0
    start = 256 + 8 + 24 * count + offset
    model: dict[str, Any] = {"graph": [], "attr": []}
    for number, content in fields(om[start : start + size]):
        if number == 1:
            model["name"] = content.decode()
        elif number == 7:
            model["graph"].append(graph_of(content))
        elif number == 11:
            model["attr"].append(attribute_of(content))
    return model


def graph_of(graph: bytes) -> dict[str, Any]:
    """Read a graph and its operators."""
    made: dict[str, Any] = {"op": []}
    for number, content in fields(graph):
        if number == 1:
            made["name"] = content.decode()
        elif number == 6:
            made["op"].append(op_of(content))
    return made


def op_of(op: bytes) -> dict[str, Any]:
    """Read one operator."""
    made: dict[str, Any] = {"attr": [], "output_desc": []}
    for number, content in fields(op):
        if number in (1, 2):
            made["name" if number == 1 else "type"] = content.decode()
        elif number == 10:
            made["attr"].append(attribute_of(content))
        elif number == 34:
            said = [attribute_of(each) for number, each in fields(content) if number == 5]
            made["output_desc"].append({"attr": said})
    return made


def attribute_of(entry: bytes) -> dict[str, Any]:
    """Read an entry of a map of attributes: text, a list of texts, or a number."""
    named = dict(fields(entry))
    value: dict[str, Any] = {}
    for number, content in fields(named[2]):
        if number == 2:
            value["s"] = content.decode()
        elif number == 1:
            value["list"] = {"s": [each.decode() for _, each in fields(content)]}
    if not value and named[2][:1] == b"\x18":
        value["i"] = named[2][1]
    return {"key": named[1].decode(), "value": value}
