"""Which characters ATC, or who reads its command line, would take for something else.

Sources: ATC's documents of each option (GE `docs/zh/user_guides/atc_tools/CLI_options`);
for `op_precision_mode` GE `op_impl_mode_config_parser.cc`, which leaves comments out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ascendflow.manifest.problems import Keys, Problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

INLINE = (
    "keep_dtype",
    "modify_mixlist",
    "customize_dtypes",
    "op_precision_mode",
    "fusion_switch_file",
)
"""Keys that are files to ATC, and may say here what the file holds."""

SEPARATORS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("input_shape_range", (":", ";", "[", "]")),
    ("input_hint_shape", (":", ";", "[", "]")),
    ("out_nodes", (";",)),
    ("optypelist_for_implmode", (",",)),
    ("optimization_switch", (":", ";")),
    ("op_precision_mode", ("=",)),
    ("fusion_switch_file", (":",)),
    ("customize_dtypes", ("::",)),
)
"""Option -> what ends a name in it. Names of inputs are judged as such elsewhere."""

_OP_TYPE = "OpType::"
_BEGINNINGS = {"[": "a section", "#": "a comment"}
_HAS_SPACE = re.compile(r"\s")
_HAS_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def text_problems(convert: Mapping[str, Any], inputs: Any) -> Iterator[Problem]:
    """Yield every text that would not reach ATC as what it is.

    Args:
        convert: the block without its nulls, raw.
        inputs: the manifest's `inputs`, raw.
    """
    for key, value in convert.items():
        if key == "options":
            continue  # a stage's slice has its options there and, for us, here as well
        in_file = key in INLINE and isinstance(value, list | dict)
        for keys, text in _texts(("convert", key), value):
            yield from _characters(keys, text, in_file=in_file)
    for index, each in enumerate(inputs if isinstance(inputs, list) else []):
        name = each.get("name") if isinstance(each, dict) else None
        if isinstance(name, str):
            yield from _characters(("inputs", index, "name"), name, in_file=False)
    yield from _separators(convert)
    yield from _beginnings(convert.get("op_precision_mode"))
    yield from _twice(convert.get("input_fp16_nodes"))


def _characters(keys: Keys, text: str, *, in_file: bool) -> Iterator[Problem]:
    if _HAS_CONTROL.search(text):
        what = "holds a control character"
        hint = "ATC reads such a file line by line" if in_file else "rename it"
    elif in_file:
        return
    elif _HAS_SPACE.search(text):
        what = "holds a space"
        hint = "Ascend's tools split ATC's arguments at spaces; rename it"
    elif text.startswith("--"):
        what, hint = "begins with '--'", "so do ATC's options; rename it"
    else:
        return
    yield Problem(keys, f"{what}, got {shown(text)}", hint)


def _texts(keys: Keys, value: Any) -> Iterator[tuple[Keys, str]]:
    """Yield each text in a value, and each name of a mapping."""
    if isinstance(value, str):
        yield keys, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield (*keys, key), str(key)
            yield from _texts((*keys, key), each)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _texts((*keys, index), each)


def _separators(convert: Mapping[str, Any]) -> Iterator[Problem]:
    for option, separators in SEPARATORS:
        for key, name in _names(convert.get(option)):
            bare = name.removeprefix(_OP_TYPE) if option in INLINE else name
            ends = separators
            if option == "customize_dtypes" and bare != name:
                ends = (":",)  # OpType::T:InputDtype, and name::InputDtype
            for end in (each for each in ends if each in bare):
                text = f"holds '{end}', which ends a name for ATC, got {shown(name)}"
                hint = "write one name alone; ATC cannot be told of one that holds it"
                yield Problem(("convert", option, key), text, hint)
                break


def _names(value: Any) -> Iterable[tuple[str | int, str]]:
    if isinstance(value, dict):
        return [(key, str(key)) for key in value]
    listed = value if isinstance(value, list | tuple) else ()
    return [(index, name) for index, name in enumerate(listed) if isinstance(name, str)]


def _beginnings(modes: Any) -> Iterator[Problem]:
    for name in modes if isinstance(modes, dict) else ():
        first = str(name).removeprefix(_OP_TYPE)[:1]
        if first in _BEGINNINGS:
            text = f"begins with '{first}', as {_BEGINNINGS[first]} does in ATC's file"
            keys = ("convert", "op_precision_mode", name)
            yield Problem(keys, text, "rename the node")


def _twice(halves: Any) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, name in enumerate(halves if isinstance(halves, list | tuple) else ()):
        if isinstance(name, str) and first.setdefault(name, index) != index:
            text = f"is input_fp16_nodes[{first[name]}] too, got {shown(name)}"
            yield Problem(("convert", "input_fp16_nodes", index), text, "remove one")
