"""The `convert` block -> ATC's arguments: `--name=value` only, always in the same order.

Source: GE `api/atc/cmd_flag_info.cc` (syntax), `docs/zh/user_guides/atc_tools/CLI_options`
and `base/common/option_register.cc` (values). No shell reads them. No value holds a space:
Ascend's own tools split the command line that an OM records at spaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendflow import atc_words
from ascendflow.errors import InternalError, StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ONNX = "5"
LONGEST_OUTPUT = 4096
_PATH = re.compile(r"[A-Za-z0-9._/\u4e00-\u9fa5-]+")


@dataclass(frozen=True)
class Paths:
    """Where things lie, relative to ATC's working folder.

    Attributes:
        model: the ONNX file.
        output: the OM without its suffix.
        cache: the folder of the compiler's cache.
        debug: the folder for what kernels' compilation leaves.
        files: option -> the file that is its value.
    """

    model: str = "model.onnx"
    output: str = "model/model"
    cache: str = "cache"
    debug: str = "kernel_meta"
    files: Mapping[str, str] = field(default_factory=dict)


def arguments(config: Mapping[str, Any], paths: Paths) -> list[str]:
    """Spell a `convert` slice of the backend `cann` for ATC.

    Raises:
        StageError: ATC would refuse a path; says which and why.
    """
    _refuse_paths(paths)
    values = {**_settings(config), **_options(config, paths)}
    if unknown := sorted(values.keys() - dict(FLAGS).keys()):
        raise InternalError(f"no spelling is known for {', '.join(unknown)}")
    return [
        f"--{name}={spell(values[name])}"
        for name, spell in FLAGS
        if values.get(name) is not None
    ]


def is_taken(path: str) -> bool:
    """Whether ATC takes a path's characters.

    Of a file that it reads it looks at the whole path, links followed.
    """
    return _PATH.fullmatch(path) is not None


def _refuse_paths(paths: Paths) -> None:
    """Refuse what ATC would, before it starts.

    Source: GE `option_utils.cc`, `base/common` path checks; `model_helper.cc` puts the
    host's name before the first ".om" of the whole path.

    Raises:
        StageError: a path holds other characters, or names no file.
    """
    named = {"model": paths.model, "output": paths.output, **paths.files}
    for option, path in named.items():
        if not is_taken(path):
            raise StageError(
                f"convert: ATC refuses --{option}={path!r} (E10001)",
                hint="paths may hold letters, digits, '-', '_', '.', '/' and Chinese",
            )
    folder, _, name = paths.output.rpartition("/")
    if not name or name in (".", ".."):
        raise StageError(f"convert: --output={paths.output} names no file (E10022)")
    if len(paths.output.encode()) >= LONGEST_OUTPUT:
        raise StageError(
            f"convert: --output is {len(paths.output.encode())} bytes long, and ATC takes "
            f"less than {LONGEST_OUTPUT} (E10021)"
        )
    if ".om" in folder:
        raise StageError(
            f"convert: --output={paths.output} has '.om' in a folder's name",
            hint="ATC would put the host's name there; rename the folder",
        )


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what every backend reads, but for what ATC takes as a file."""
    mode = config["precision_mode"]
    is_old = mode in atc_words.PRECISION_MODES
    return {
        "soc_version": config["soc_version"],
        "precision_mode" if is_old else "precision_mode_v2": mode,
        "op_select_implmode": config.get("op_select_implmode"),
        "optypelist_for_implmode": config.get("optypelist_for_implmode") or None,
        "is_weight_clip": config.get("is_weight_clip"),
    }


def _options(config: Mapping[str, Any], paths: Paths) -> dict[str, Any]:
    given = {
        name: value
        for name, value in config["options"].items()
        if name not in (*NO_FLAGS, *atc_words.FILES)
    }
    for gears, layout in LAYOUTS:
        if gears in given:
            given.setdefault("input_format", layout)
    if "input_shape" not in given and "input_shape_range" not in given:
        given["input_shape"] = {each["name"]: each["shape"] for each in config["inputs"]}
    return {
        "mode": 0,
        "op_compiler_cache_mode": "disable",  # as ATC does unasked: written out to be kept
        **given,
        **paths.files,
        "framework": ONNX,
        "model": paths.model,
        "output": paths.output,
        "op_compiler_cache_dir": paths.cache,
        "debug_dir": paths.debug,
    }


def _text(value: Any) -> str:
    return str(value)


def _digit(value: Any) -> str:
    return str(int(value))


def _word(value: Any) -> str:
    return "true" if value else "false"


def _words(value: Sequence[Any]) -> str:
    return ",".join(map(_word, value))


def _commas(value: Sequence[Any]) -> str:
    return ",".join(map(str, value))


def _semicolons(value: Sequence[str]) -> str:
    return ";".join(value)


def _gears(value: Sequence[Sequence[int]]) -> str:
    return ";".join(map(_commas, value))


def _shapes(value: Mapping[str, Sequence[Any]]) -> str:
    """Spell `name:1,3,8;scalar:`."""
    return ";".join(f"{name}:{_commas(sizes)}" for name, sizes in value.items())


def _bracketed(value: Mapping[str, Sequence[Any]]) -> str:
    """Spell `name:[1~4,3]`."""
    return ";".join(f"{name}:[{_commas(sizes)}]" for name, sizes in value.items())


def _types(value: str | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value
    return ";".join(f"{node}:{kind}" for node, kind in value.items())


def _switches(value: Mapping[str, bool]) -> str:
    return ";".join(f"{name}:{'on' if on else 'off'}" for name, on in value.items())


LAYOUTS = (("dynamic_image_size", "NCHW"), ("dynamic_dims", "ND"))
"""Gears -> the `input_format` that ATC must be told with them. Sources: GE
`multi_batch_options.cc` refuses images without one; the document of `--dynamic_dims`."""

NO_FLAGS = ("toolkit", "python", "dynamic_shape", "aipp")
"""Options of ours that ATC has not."""

FLAGS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("mode", _digit),
    ("model", _text),
    ("framework", _text),
    ("input_format", _text),
    ("input_shape", _shapes),
    ("input_shape_range", _bracketed),
    ("dynamic_batch_size", _commas),
    ("dynamic_image_size", _gears),
    ("dynamic_dims", _gears),
    ("input_hint_shape", _bracketed),
    ("input_fp16_nodes", _semicolons),
    ("is_input_adjust_hw_layout", _words),
    ("is_output_adjust_hw_layout", _words),
    ("output", _text),
    ("output_type", _types),
    ("out_nodes", _semicolons),
    ("host_env_os", _text),
    ("host_env_cpu", _text),
    ("soc_version", _text),
    ("core_type", _text),
    ("aicore_num", _text),
    ("virtual_type", _digit),
    ("external_weight", _digit),
    ("save_original_model", _word),
    ("cluster_config", _text),
    ("hccl_sub_comm_config", _text),
    ("precision_mode", _text),
    ("precision_mode_v2", _text),
    ("modify_mixlist", _text),
    ("keep_dtype", _text),
    ("customize_dtypes", _text),
    ("op_precision_mode", _text),
    ("op_select_implmode", _text),
    ("optypelist_for_implmode", _commas),
    ("allow_hf32", _word),
    ("deterministic", _digit),
    ("deterministic_level", _digit),
    ("insert_op_conf", _text),
    ("fusion_switch_file", _text),
    ("optimization_switch", _switches),
    ("enable_small_channel", _digit),
    ("is_weight_clip", _digit),
    ("enable_compress_weight", _word),
    ("compress_weight_conf", _text),
    ("compression_optimize_conf", _text),
    ("sparsity", _digit),
    ("buffer_optimize", _text),
    ("disable_reuse_memory", _digit),
    ("enable_single_stream", _word),
    ("ac_parallel_enable", _digit),
    ("tiling_schedule_optimize", _digit),
    ("quant_dumpable", _digit),
    ("oo_level", _text),
    ("oo_constant_folding", _word),
    ("oo_dead_code_elimination", _word),
    ("topo_sorting_mode", _digit),
    ("atomic_clean_policy", _digit),
    ("enable_attr_compression", _word),
    ("shape_generalized_build_mode", _text),
    ("static_model_ops_lower_limit", _digit),
    ("jit_compile", _digit),
    ("build_config", _text),
    ("raw_ge_options", _text),
    ("raw_ge_options_ignore_unsupported", _word),
    ("h2d_overlapped_with_compute", _text),
    ("mdl_bank_path", _text),
    ("op_bank_path", _text),
    ("op_compiler_cache_mode", _text),
    ("op_compiler_cache_dir", _text),
    ("debug_dir", _text),
    ("op_debug_level", _digit),
    ("op_debug_config", _text),
    ("op_name_map", _text),
    ("log", _text),
    ("status_check", _digit),
    ("display_model_info", _digit),
    ("export_compile_stat", _digit),
)
"""(option, how its value is spelled), in the order in which ATC gets them."""
