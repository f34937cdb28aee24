"""The block `convert`: a target, and each option of ATC under its own name.

ATC's own documents name the values (GE `docs/zh/user_guides/atc_tools/CLI_options`); a
switch is true or false here, whether ATC spells it so or as 1 and 0.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from ascendflow import atc_words
from ascendflow.manifest.aipp import Aipp
from ascendflow.manifest.backends import NOT_BESIDE_EMULATION
from ascendflow.manifest.block import STRICT, FromList
from ascendflow.manifest.fields import (
    AbsolutePath,
    Cores,
    Dimension,
    OrFile,
    Python3,
    RelativePath,
    Text,
    names_backend,
    one_of,
)
from ascendflow.manifest.target import Names, Target

Gear = Annotated[tuple[int, ...], FromList]
Gears = Annotated[tuple[Gear, ...], FromList]
Shapes = dict[str, Annotated[tuple[Dimension, ...], FromList]]
Switches = dict[str, bool]
Pictures = dict[str, Aipp]
Flags = Annotated[tuple[bool, ...], FromList]
UpTo2 = Annotated[int, Field(ge=0, le=2)]
UpTo3 = Annotated[int, Field(ge=0, le=3)]
UpTo4 = Annotated[int, Field(ge=0, le=4)]
OutputType = Annotated[str, one_of(atc_words.OUTPUT_TYPES)]
OpMode = Annotated[str, one_of(atc_words.OP_PRECISION_MODES)]


def _by_backend(schema: dict[str, Any]) -> None:
    """Say in JSON Schema which keys a backend needs, and which it does not read."""
    ours = [name for name in Convert.model_fields if name not in Target.model_fields]
    soc = {"soc_version": {"enum": list(atc_words.SOC_VERSIONS)}}
    alone = {
        "properties": {**soc, **{name: {"type": "null"} for name in NOT_BESIDE_EMULATION}}
    }
    schema |= {
        "if": names_backend("cann"),
        "then": {
            "required": ["toolkit", "python"],
            "if": names_backend("emulator"),
            "then": alone,
        },
        "else": {"properties": {**soc, **{name: {"type": "null"} for name in ours}}},
    }


class Convert(Target):
    """The target: ONNX to OM.

    The emulator reads `cann`, `soc_version` and what is said of precision; backend `cann`
    reads every key, and ATC judges them. Where both are named, the emulator leaves the
    others out, and the report says which.
    """

    model_config = ConfigDict(**STRICT, json_schema_extra=_by_backend)

    toolkit: AbsolutePath | None = None
    """Required with `backend: cann`: where CANN is installed, e.g.
    /usr/local/Ascend/ascend-toolkit/latest."""
    python: Python3 | None = None
    """Required with `backend: cann`: the python3 that ATC compiles kernels with; never
    ascendflow's own."""
    mode: Annotated[int, Field(json_schema_extra={"enum": [0, 30]})] | None = None
    """0 makes an OM; 30 is for Ascend035*, and only for those."""
    dynamic_shape: bool | None = None
    """Whether open sizes in `input_shape` are meant to stay open on the device."""
    input_format: Annotated[str, one_of(("NCHW", "ND", "NCDHW"))] | None = None
    """Layout of the inputs; absent: NCHW."""
    input_shape: Shapes | None = None
    """Input -> sizes, -1 or a range (1~4) where open; absent: the shapes of `inputs`."""
    input_shape_range: Shapes | None = None
    """Deprecated by ATC: write ranges in `input_shape`."""
    dynamic_batch_size: Gear | None = None
    """Gears: the batch sizes the model is built for, e.g. [1, 4]."""
    dynamic_image_size: Gears | None = None
    """Gears: the [height, width] pairs the model is built for."""
    dynamic_dims: Gears | None = None
    """Gears: for each, one value per -1 of `input_shape`, in its order."""
    input_hint_shape: Shapes | None = None
    """Input's index, quoted -> the sizes to plan for; not with gears."""
    input_fp16_nodes: Names | None = None
    """Inputs that are fed as float16."""
    is_input_adjust_hw_layout: Flags | None = None
    """Per input of `input_fp16_nodes`: whether it comes as NC1HWC0."""
    is_output_adjust_hw_layout: Flags | None = None
    """Per output of `out_nodes`: whether it leaves as NC1HWC0."""
    output_type: OutputType | dict[str, OutputType] | None = None
    """Type of all outputs, or `node:0` of `out_nodes` -> its type."""
    out_nodes: Names | None = None
    """Outputs to build for, as the ONNX file names them: `node:0`, or names of tensors. The
    model is cut there when it comes in, for every stage."""
    host_env_os: Annotated[str, one_of(("linux", "minios"))] | None = None
    """Where a model of dynamic shape will run; absent: as here."""
    host_env_cpu: Annotated[str, one_of(("x86_64", "aarch64", "arm64", "arm"))] | None = (
        None
    )
    """Where a model of dynamic shape will run; absent: as here."""
    core_type: Annotated[str, one_of(("AiCore", "VectorCore"))] | None = None
    """Which cores to compile for; absent: AiCore."""
    aicore_num: Cores | None = None
    """How many cores: "c", or cube and vector cores as "c|v"."""
    virtual_type: bool | None = None
    """Whether the model runs on a share of a device."""
    external_weight: UpTo2 | None = None
    """Weights beside the OM: 0 none, 1 a file each, 2 all in one (CANN 9.0)."""
    save_original_model: bool | None = None
    """Keep the original model with the OM."""
    cluster_config: RelativePath | None = None
    """File that describes the devices of a distributed build."""
    hccl_sub_comm_config: RelativePath | None = None
    """File of communication groups (CANN 9.1)."""
    op_precision_mode: Annotated[dict[str, OpMode] | None, OrFile()] = None
    """Node's name, or `OpType::Relu` by GE operator -> how it computes inside."""
    allow_hf32: bool | None = None
    """Reserved by ATC."""
    deterministic: bool | None = None
    """Whether the device gives the same numbers each time."""
    deterministic_level: UpTo3 | None = None
    """How far that goes."""
    aipp: Pictures | None = None
    """Input -> how the device prepares pictures for it; samples are then the pictures, and
    the ONNX side gets what these steps make of them."""
    insert_op_conf: RelativePath | None = None
    """AIPP file of your own; the ONNX side does not see it, so prefer `aipp`."""
    fusion_switch_file: Annotated[Switches | None, OrFile()] = None
    """Fusion pass -> whether it may run."""
    optimization_switch: Switches | None = None
    """Pass -> whether it may run (newest CANN only)."""
    enable_small_channel: bool | None = None
    """Faster convolutions of four channels or fewer."""
    enable_compress_weight: bool | None = None
    """Compress all weights."""
    compress_weight_conf: RelativePath | None = None
    """File that names the nodes whose weights to compress."""
    compression_optimize_conf: RelativePath | None = None
    """File for quantisation; needs AMCT."""
    sparsity: bool | None = None
    """Use 2:4 sparse weights."""
    buffer_optimize: (
        Annotated[str, one_of(("l1_optimize", "l2_optimize", "off_optimize"))] | None
    ) = None
    """How buffers are planned; absent: l2_optimize."""
    disable_reuse_memory: bool | None = None
    """Give each tensor memory of its own."""
    enable_single_stream: bool | None = None
    """Run all in one stream."""
    ac_parallel_enable: bool | None = None
    """Let AI CPU and AI Core operators run at once."""
    tiling_schedule_optimize: bool | None = None
    """Compute tilings on the device."""
    quant_dumpable: bool | None = None
    """Keep quantisation operators so that they can be dumped."""
    oo_level: Annotated[str, one_of(("O1", "O3"))] | None = None
    """How much the graph is optimised; absent: O3."""
    oo_constant_folding: bool | None = None
    """Compute what is constant while compiling; absent: true."""
    oo_dead_code_elimination: bool | None = None
    """Drop branches that no constant condition takes; absent: true."""
    topo_sorting_mode: UpTo3 | None = None
    """In which order the graph is walked; absent: 1."""
    atomic_clean_policy: bool | None = None
    """Clear memory operator by operator instead of all at once."""
    enable_attr_compression: bool | None = None
    """How the OM stores attributes (CANN 9.0); absent: compressed."""
    shape_generalized_build_mode: (
        Annotated[str, one_of(("shape_generalized", "shape_precise"))] | None
    ) = None
    """Deprecated by ATC."""
    static_model_ops_lower_limit: Annotated[int, Field(ge=0)] | None = None
    """Static parts of fewer operators run as dynamic (newest CANN only)."""
    jit_compile: UpTo2 | None = None
    """Whether kernels are compiled or taken from a library (newest CANN only)."""
    build_config: RelativePath | None = None
    """File with more options (newest CANN only)."""
    raw_ge_options: RelativePath | None = None
    """JSON file of options for GE (newest CANN only)."""
    raw_ge_options_ignore_unsupported: bool | None = None
    """Warn of those that ATC does not know, instead of stopping."""
    h2d_overlapped_with_compute: Text | None = None
    """Copy inputs while computing: "0", "1", or where to split (newest CANN only)."""
    op_compiler_cache_mode: (
        Annotated[str, one_of(("enable", "disable", "force"))] | None
    ) = None
    """Cache of compiled kernels, kept for this build alone; absent: disable."""
    op_debug_level: UpTo4 | None = None
    """What is kept of each kernel's compilation."""
    op_debug_config: RelativePath | None = None
    """File of checks to compile into kernels."""
    op_name_map: RelativePath | None = None
    """File that maps names of custom operators."""
    mdl_bank_path: RelativePath | None = None
    """ZIP file of a bank of tuned graphs, as AOE makes one; its digest is in the key."""
    op_bank_path: RelativePath | None = None
    """ZIP file of a bank of tuned operators, as AOE makes one; its digest is in the key."""
    log: Annotated[str, one_of(("debug", "info", "warning", "error", "null"))] | None = None
    """How much ATC logs; absent: nothing but errors."""
    status_check: bool | None = None
    """Compile a check for overflow into the model."""
    display_model_info: bool | None = None
    """Print the OM's sizes after the build."""
    export_compile_stat: UpTo2 | None = None
    """Whether ATC writes which fusions it used; absent: 1."""
