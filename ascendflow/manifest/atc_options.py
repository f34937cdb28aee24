"""What must hold between `convert`'s options for ATC to take them, and who reads which.

Source: ATC's own checks (GE `compiler/api/aclgrph/option_utils.cc`); messages end in the
code of ATC's refusal, where it has one. Shapes and gears are in `atc_shapes`, characters in
`atc_texts`, precision in `precision_keys`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.manifest.aipp_rules import aipp_problems, picture_ranges
from ascendflow.manifest.atc_shapes import shape_problems
from ascendflow.manifest.atc_texts import text_problems
from ascendflow.manifest.backends import NOT_BESIDE_EMULATION, named_backends
from ascendflow.manifest.opsets import release_of
from ascendflow.manifest.paths import lookup
from ascendflow.manifest.problems import Problem, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_OURS = "is set by ascendflow, and no key"
NOT_TAKEN = {
    "model": (_OURS, "it is the rewritten ONNX of this pipeline"),
    "framework": (_OURS, "it is 5, for ONNX"),
    "weight": ("is for Caffe, and models are ONNX here", "remove the line"),
    "output": (_OURS, "the OM lies in build/<model>/convert/model/"),
    "om": ("is for other modes of ATC", "remove the line"),
    "json": ("is for other modes of ATC", "remove the line"),
    "singleop": ("is for other modes of ATC", "remove the line"),
    "check_report": ("is for other modes of ATC", "remove the line"),
    "dump_mode": ("is for other modes of ATC", "remove the line"),
    "enable_scope_fusion_passes": ("is for TensorFlow", "remove the line"),
    "auto_tune_mode": (
        "is refused by ATC (E10001)",
        "tune with AOE, and name what it makes: op_bank_path, mdl_bank_path",
    ),
    "op_compiler_cache_dir": (_OURS, "each build has a cache of its own"),
    "debug_dir": (_OURS, "it lies in the stage's folder"),
    "target": ("has no document of ATC's that says what it means", None),
    "cal_conf": ("has no document of ATC's that says what it means", None),
    "device_id": ("has no document of ATC's that says what it means", None),
}
"""Options of ATC that are no keys -> why, and what to do."""

SHARED_FILES: dict[str, Any] = {
    "keep_dtype": [],
    "modify_mixlist": None,
    "customize_dtypes": {},
}
"""Keys of every backend that only `cann` takes as a file -> what says nothing."""

SINCE: tuple[tuple[str, Any, tuple[int, int]], ...] = (
    ("external_weight", 2, (9, 0)),
    ("enable_attr_compression", None, (9, 0)),
    ("hccl_sub_comm_config", None, (9, 1)),
)
"""(option, the value or None for any, the first CANN). Source: GE's branches 8.5.0, 9.0.0
and 9.1.0; what only its newest tree has may be in any to come."""

_MODE_30 = "Ascend035"


def atc_options(data: Any) -> Iterator[Problem]:
    """Yield what ATC, or the chosen backend, does not take; `data` is the whole, raw."""
    convert = lookup(data, ("convert",))
    if not isinstance(convert, dict):
        return
    given = {key: value for key, value in convert.items() if value is not None}
    backends = named_backends(given)
    if not backends:
        return  # told by itself
    if "cann" in backends:
        yield from refused_by_atc(given, lookup(data, ("inputs",)))
        yield from picture_ranges(data)
        yield from _cut_source(data, given)
    if backends != ("cann",):
        several = f"[{', '.join(backends)}]" if len(backends) > 1 else None
        named = several or shown(convert.get("backend", "emulator"))
        yield from _not_for_emulation(given, named)
    if "cann" in backends and "emulator" in backends:
        yield from _not_beside_emulation(given)


def refused_by_atc(convert: Mapping[str, Any], inputs: Any) -> Iterator[Problem]:
    """Yield every mistake of a block for `cann`.

    Args:
        convert: the block without its nulls, raw.
        inputs: the manifest's `inputs`, raw.
    """
    for key, hint in (
        (
            "toolkit",
            "name the folder of a CANN, as /usr/local/Ascend/ascend-toolkit/latest",
        ),
        ("python", "name the python3 that CANN was installed for, as /usr/bin/python3"),
    ):
        if key not in convert:
            without = "where none is installed, backend: emulator needs neither"
            yield Problem(("convert", key), "is missing", f"{hint}; {without}")
    yield from shape_problems(convert, inputs)
    for rule in RULES:
        yield from rule(convert)
    yield from aipp_problems(convert, inputs)
    yield from _half_inputs(convert, inputs)
    yield from text_problems(convert, inputs)


def _not_for_emulation(convert: Mapping[str, Any], backend: str) -> Iterator[Problem]:
    for key in SHARED_FILES:
        if isinstance(convert.get(key), str):
            text = f"is a file, which backend: cann only reads; the backend is {backend}"
            yield Problem(("convert", key), text, "write here what the file says")


def _not_beside_emulation(convert: Mapping[str, Any]) -> Iterator[Problem]:
    for key in NOT_BESIDE_EMULATION:
        if key in convert:
            text = "makes other inputs or outputs, which the emulator has no model of"
            hint = "remove it, or set backend: cann"
            yield Problem(("convert", key), text, hint, is_apart=True)


def _mode(convert: Mapping[str, Any]) -> Iterator[Problem]:
    soc, mode = str(convert.get("soc_version")), convert.get("mode", 0)
    if mode not in (0, 30):
        text = f"must be 0 or 30, got {shown(mode)} (E10001)"
        yield Problem(("convert", "mode"), text, "0 makes an OM")
    elif soc.startswith(_MODE_30) != (mode == 30):
        needed = 30 if mode == 0 else 0
        text = f"must be {needed} for {soc}, got {mode} (E10055)"
        yield Problem(("convert", "mode"), text, f"mode 30 is for {_MODE_30}* only")


def _compression(convert: Mapping[str, Any]) -> Iterator[Problem]:
    if convert.get("enable_compress_weight") is True and "compress_weight_conf" in convert:
        text = "stands beside enable_compress_weight (E10047)"
        yield Problem(("convert", "compress_weight_conf"), text, "remove one")


def _output_types(convert: Mapping[str, Any]) -> Iterator[Problem]:
    types, nodes = convert.get("output_type"), convert.get("out_nodes")
    if not isinstance(types, dict):
        return
    if nodes is None:
        text = "names outputs, and out_nodes does not"
        yield Problem(("convert", "output_type"), text, "list them in out_nodes too")
        return
    for name in types:
        if isinstance(nodes, list) and name not in nodes:
            text = "is not in out_nodes"
            yield Problem(("convert", "output_type", name), text, "list it there too")


def _out_nodes(convert: Mapping[str, Any]) -> Iterator[Problem]:
    nodes = convert.get("out_nodes")
    first: dict[str, int] = {}
    for index, name in enumerate(nodes if isinstance(nodes, list) else []):
        if isinstance(name, str) and first.setdefault(name, index) != index:
            text = f"is out_nodes[{first[name]}] too, got {shown(name)}"
            yield Problem(("convert", "out_nodes", index), text, "remove one")


def _cut_source(data: Any, convert: Mapping[str, Any]) -> Iterator[Problem]:
    """Refuse to cut a PyTorch model: its own golden would have other outputs."""
    if convert.get("out_nodes") and lookup(data, ("source", "torch")) is not None:
        text = "cuts an ONNX file, and the source is PyTorch"
        hint = "return these tensors from forward(), or name an ONNX file as source"
        yield Problem(("convert", "out_nodes"), text, hint)


def _aipp(convert: Mapping[str, Any]) -> Iterator[Problem]:
    layout = convert.get("input_format", "NCHW")
    if "insert_op_conf" in convert and layout != "NCHW":
        text = f"must be NCHW beside insert_op_conf, got {shown(layout)} (E10001)"
        yield Problem(("convert", "input_format"), text, "remove one")


def _half_inputs(convert: Mapping[str, Any], inputs: Any) -> Iterator[Problem]:
    halves = convert.get("input_fp16_nodes")
    listed = inputs if isinstance(inputs, list) else []
    names = [each.get("name") for each in listed if isinstance(each, dict)]
    for index, name in enumerate(halves if isinstance(halves, list) else []):
        keys = ("convert", "input_fp16_nodes", index)
        if name not in names:
            yield Problem(keys, f"is no input's name, got {shown(name)} (E10017)")
        elif "insert_op_conf" in convert and len(names) == 1:
            text = "is prepared by insert_op_conf, which makes it uint8 (E10034)"
            yield Problem(keys, text, "remove one")


def _inline(convert: Mapping[str, Any]) -> Iterator[Problem]:
    """Refuse what the files that ATC reads have no way to say."""
    by_hand = "write the file by hand, and name it here"
    lists = convert.get("modify_mixlist")
    if isinstance(lists, dict) and lists.get("gray"):
        text = "cannot be written for ATC: it takes names off the list that they are on"
        yield Problem(("convert", "modify_mixlist", "gray"), text, by_hand)
    custom = convert.get("customize_dtypes")
    for name, types in custom.items() if isinstance(custom, dict) else ():
        for side in ("inputs", "outputs"):
            listed = types.get(side) if isinstance(types, dict) else None
            if not listed or (isinstance(listed, list) and None in listed):
                keys = ("convert", "customize_dtypes", name, side)
                yield Problem(keys, "must name each type: ATC takes none for any", by_hand)
    switches = convert.get("fusion_switch_file")
    if isinstance(switches, dict) and "ALL" in switches and len(switches) > 1:
        text = "stands beside single passes, whose kind ATC must be told"
        yield Problem(("convert", "fusion_switch_file", "ALL"), text, by_hand)


def _needs_implmode(convert: Mapping[str, Any]) -> Iterator[Problem]:
    if "op_precision_mode" not in convert:
        return
    for key in ("op_select_implmode", "optypelist_for_implmode"):
        if convert.get(key):
            text = "stands beside op_precision_mode, and ATC would not read it"
            yield Problem(("convert", key), text, "remove one")


def _since(convert: Mapping[str, Any]) -> Iterator[Problem]:
    """Refuse what the ATC of an older CANN has not, which it would say much later."""
    cann = convert.get("cann")
    release = release_of(cann) if isinstance(cann, str) else None
    if release is None:
        return
    for key, value, since in SINCE:
        if key in convert and value in (None, convert[key]) and release < since:
            what = "is" if value is None else f"is {value}, which is"
            text = f"{what} of CANN {'.'.join(map(str, since))} and later, not {cann}"
            yield Problem(("convert", key), text, "remove it, or name the CANN you have")


def _host(convert: Mapping[str, Any]) -> Iterator[Problem]:
    if convert.get("dynamic_shape") is True:
        return
    for key in ("host_env_os", "host_env_cpu"):
        if key in convert:
            text = "is for models of dynamic shape, and ATC would not read it"
            yield Problem(("convert", key), text, "remove it, or set dynamic_shape: true")


RULES: tuple[Callable[[Mapping[str, Any]], Iterator[Problem]], ...] = (
    _mode,
    _compression,
    _output_types,
    _out_nodes,
    _aipp,
    _needs_implmode,
    _host,
    _inline,
    _since,
)
"""Each takes the block without its nulls, of which no type is certain."""
