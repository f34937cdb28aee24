"""What the manifest says inline, as the files that ATC reads.

Formats: GE `docs/zh/user_guides/atc_tools/CLI_options` of each option. What they cannot
say is refused when the manifest loads (`ascendflow.manifest.atc_options`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann.aipp_file import aipp_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

OP_TYPE = "OpType::"


def option_files(config: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Write each option that is given inline: option -> (file's name, its text).

    Args:
        config: the `convert` slice of the backend `cann`.
    """
    given = {**config, **config["options"]}
    files = {
        option: (f"{option}{suffix}", write(given[option]))
        for option, suffix, write in FORMATS
        if isinstance(given.get(option), list | dict) and given[option]
    }
    if given.get("aipp"):
        text = aipp_text(given["aipp"], config["inputs"])
        files["insert_op_conf"] = ("insert_op_conf.cfg", text)
    return files


def _modify_mixlist(lists: Mapping[str, list[str]]) -> str:
    document = {
        f"{colour}-list": {"to-add": lists[colour]}
        for colour in ("black", "white")
        if lists.get(colour)
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _customize_dtypes(types: Mapping[str, Mapping[str, list[str]]]) -> str:
    """Spell `name::InputDtype:a,OutputDtype:b`, or `OpType::T:InputDtype:...`."""
    return _lines(
        f"{name}{':' if name.startswith(OP_TYPE) else '::'}"
        f"InputDtype:{','.join(each['inputs'])},OutputDtype:{','.join(each['outputs'])}"
        for name, each in types.items()
    )


def _op_precision_mode(modes: Mapping[str, str]) -> str:
    by_type = {
        name.removeprefix(OP_TYPE): mode
        for name, mode in modes.items()
        if name.startswith(OP_TYPE)
    }
    by_name = {name: mode for name, mode in modes.items() if not name.startswith(OP_TYPE)}
    lines = []
    for section, entries in (("[ByOpType]", by_type), ("[ByNodeName]", by_name)):
        if entries:
            lines += [section, *(f"{name}={mode}" for name, mode in entries.items())]
    return _lines(lines)


def _fusion_switches(switches: Mapping[str, bool]) -> str:
    if "ALL" in switches:
        everything = {"ALL": "on" if switches["ALL"] else "off"}
        kinds = {"GraphFusion": everything, "UBFusion": everything}
        return json.dumps({"Switch": kinds}, indent=1) + "\n"
    return _lines(f"{name}:{'on' if on else 'off'}" for name, on in switches.items())


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


FORMATS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("keep_dtype", ".cfg", _lines),
    ("modify_mixlist", ".json", _modify_mixlist),
    ("customize_dtypes", ".cfg", _customize_dtypes),
    ("op_precision_mode", ".ini", _op_precision_mode),
    ("fusion_switch_file", ".cfg", _fusion_switches),
)
"""(option, suffix, how its file is written)."""
