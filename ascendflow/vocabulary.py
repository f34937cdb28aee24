"""Closed sets of names, as plain tuples.

The manifest validates against these without importing what they name; a test
holds each registry equal to its tuple.
"""

from __future__ import annotations

STAGES = (
    "samples",
    "export",
    "golden",
    "simplify",
    "rewrite",
    "check",
    "lint",
    "convert",
    "infer",
    "compare",
    "evaluate",
    "gate",
    "report",
    "contrast",
)

RULES = (
    ("loop-unroll", 1),
    ("cast-like-to-cast", 1),
    ("gelu-to-erf", 1),
    ("group-norm-decompose", 1),
    ("layer-norm-decompose", 1),
    ("mish-decompose", 1),
    ("reduce-norm-decompose", 1),
    ("resize-half-pixel", 1),
    ("resize-nearest-gather", 1),
    ("resize-to-matmul", 1),
    ("clip-unbounded", 1),
    ("gridsample-attributes", 1),
    ("gru-unrolled", 1),
    ("logsoftmax-legacy", 1),
    ("mod-sign", 1),
    ("onehot-compare", 1),
    ("reduce-axes-input", 1),
    ("reduce-noop", 1),
    ("softmax-legacy", 1),
    ("arg-last-index", 1),
    ("empty-slice", 1),
    ("gather-non-negative", 1),
    ("gathernd-flatten", 1),
    ("indices-to-int64", 1),
    ("int64-to-int32", 1),
    ("pad-all-axes", 1),
    ("scatter-reduction", 1),
    ("drop-pool-indices", 1),
    ("auto-pad-to-pads", 1),
    ("ceil-mode-to-pads", 1),
    ("dilated-maxpool", 1),
    ("split-big-maxpool", 1),
    ("split-big-avgpool", 1),
    ("lrn-even-size", 1),
    ("conv-attributes", 1),
    ("convtranspose-attributes", 1),
    ("clamp-mask", 1),
    ("clamp-constants", 1),
    ("raise-epsilon", 1),
    ("einsum-matmul", 1),
    ("pow-to-mul", 1),
    ("pow-to-sqrt", 1),
    ("unfuse-gelu", 1),
    ("split-mean", 1),
    ("scale-conv", 1),
    ("scale-rmsnorm", 1),
)
"""(rule id, version) in the order in which the rules are applied."""

AUTO = "auto"
"""What a manifest writes for every rule that the target needs."""

RULE_ARGUMENTS = {"scale-conv": ("scale",), "scale-rmsnorm": ("scale",)}
"""Rule -> the keys that it needs beside its name; rules that are not named take none."""

MATRIX_PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
"""ONNX operators of the matrix unit, which `scale-conv` takes."""

LOSSY_RULES = {
    "clamp-constants": "constants beyond 65504 become 65504, whatever then comes of them",
    "raise-epsilon": "results change where what the epsilon guards is near 0",
}
"""Rules that a manifest must name and allow, since they change values beyond rounding ->
what they cost."""

BACKENDS = ("emulator", "cann")

INFER_APIS = ("ais_bench", "pyacl")
"""What can run an OM."""

NODES_BY = ("dump", "msprobe")
"""What compares the tensors inside an OM: ascendflow, or Ascend's own tool."""

FORCE_FP16 = "force_fp16"
"""ATC's default: everything that can be fp16 is."""

PRECISION_MODES = (
    FORCE_FP16,
    "allow_mix_precision",
    "allow_fp32_to_fp16",
    "must_keep_origin_dtype",
    "force_fp32",
    "cube_fp16in_fp32out",
    "allow_mix_precision_fp16",
    "allow_mix_precision_bf16",
    "allow_fp32_to_bf16",
)
"""ATC's `--precision_mode` values."""

PRECISION_MODES_V2 = (
    "fp16",
    "origin",
    "cube_fp16in_fp32out",
    "mixed_float16",
    "mixed_bfloat16",
    "cube_hif8",
    "mixed_hif8",
)
"""ATC's `--precision_mode_v2` values."""

SAME_PRECISION_MODES = (
    ("fp16", FORCE_FP16),
    ("origin", "must_keep_origin_dtype"),
    ("cube_fp16in_fp32out", "force_fp32"),
    ("mixed_float16", "allow_mix_precision"),
    ("mixed_bfloat16", "allow_mix_precision_bf16"),
    ("allow_mix_precision_fp16", "allow_mix_precision"),
)
"""(spelling, the one that is kept): what ATC's documents call the same."""

MIX_LISTS = ("white", "gray", "black")

IMPLEMENTATION_MODES = (
    "high_performance",
    "high_precision",
    "high_performance_for_all",
    "high_precision_for_all",
)
"""ATC's `--op_select_implmode` values."""

OP_PRECISION_MODES = (
    "high_precision",
    "high_performance",
    "super_performance",
    "keep_fp16",
    "enable_float_32_execution",
    "enable_hi_float_32_execution",
    "support_out_of_bound_index",
)
"""What an operator's entry in ATC's `--op_precision_mode` file may say."""

ATC_FILES = (
    "keep_dtype",
    "modify_mixlist",
    "customize_dtypes",
    "op_precision_mode",
    "cluster_config",
    "hccl_sub_comm_config",
    "insert_op_conf",
    "fusion_switch_file",
    "compress_weight_conf",
    "compression_optimize_conf",
    "build_config",
    "raw_ge_options",
    "op_debug_config",
    "op_name_map",
    "mdl_bank_path",
    "op_bank_path",
)
"""ATC's options whose value is a file; a manifest names it, or says what it holds."""

BANKS = ("mdl_bank_path", "op_bank_path")
"""Those whose value is a folder to ATC, and a ZIP file of it to a manifest."""

PRECISION_FILES = ("keep_dtype", "modify_mixlist", "customize_dtypes")
"""Those of them by which types are foreseen, too."""

OUTPUT_TYPES = (
    "FP32",
    "FP16",
    "UINT8",
    "INT8",
    "HIF8",
    "HIF4",
    "FP8E5M2",
    "FP8E4M3FN",
)
"""ATC's `--output_type` values. Its document lists more, which its check refuses."""

PICTURES_OF = (("RGB888_U8", 3), ("XRGB8888_U8", 4), ("YUV400_U8", 1))
"""(AIPP's `input_format`, channels of such a picture)."""

PICTURES = tuple(name for name, _ in PICTURES_OF)

METRICS = (
    ("cosine_similarity", "higher"),
    ("max_absolute_error", "lower"),
    ("accumulated_relative_error", "lower"),
    ("relative_euclidean_distance", "lower"),
    ("kl_divergence", "lower"),
    ("mean_absolute_error", "lower"),
    ("root_mean_square_error", "lower"),
    ("max_relative_error", "lower"),
    ("mean_relative_error", "lower"),
    ("range_relative_error", "lower"),
    ("mismatch_rate", "lower"),
)
"""(metric, which direction is better). `range_relative_error` is the max absolute
error over the golden's range; `mismatch_rate` is for integer and bool tensors."""

DIRECTIONS = ("higher", "lower")

DTYPES = (
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
)

EXPORTERS = ("dynamo", "torchscript")

GOLDENS = ("onnx", "torch")
"""What an end metric's drop may be measured against."""

SOC_VERSIONS = (
    "Ascend310",
    "Ascend310B1",
    "Ascend310B2",
    "Ascend310B3",
    "Ascend310B4",
    "Ascend310P1",
    "Ascend310P3",
    "Ascend310P5",
    "Ascend310P7",
    "Ascend610",
    "Ascend610Lite",
    "Ascend910A",
    "Ascend910B",
    "Ascend910B1",
    "Ascend910B2",
    "Ascend910B2C",
    "Ascend910B3",
    "Ascend910B4",
    "Ascend910B4-1",
    "Ascend910PremiumA",
    "Ascend910ProA",
    "Ascend910ProB",
    "Ascend910_5591",
    "Ascend910_9362",
    "Ascend910_9372",
    "Ascend910_9381",
    "Ascend910_9382",
    "Ascend910_9391",
    "Ascend910_9392",
    "Ascend910_95",
    "Ascend031",
    "Ascend035",
    "Ascend035A",
    "Ascend035B",
    "AS31XM1X",
    "BS9SX1AA",
    "BS9SX1AB",
    "BS9SX1AC",
    "BS9SX2AA",
    "BS9SX2AB",
    "Hi3796CV300CS",
    "Hi3796CV300ES",
    "MC61AM21AA",
    "MC61AM21AB",
    "SD3403",
)
"""What `atc --soc_version` of CANN 8.1.RC1 accepts (the stems of its
platform_config/*.ini). Another CANN may know more."""

HALF_NORMAL = 2.0**-14
"""Below it float16's numbers are 2^-24 apart, however small they are."""

HALF_MAX = 65504.0
"""The largest finite fp16 number."""

ONNX_FILE_LIMIT = 2**31
"""Bytes from which on protobuf takes no file, whatever is in it."""

PLACES = ("pipeline", "repository", "ascendflow")
"""What records call the folders that files lie in; no root may be called so."""

A_ROOT = (
    "name its folder in pyproject.toml, below [tool.ascendflow]: "
    'roots = {name = "folder"}, then write name:path'
)
"""What to do about a path in a manifest that leads out of the repository."""

COMMANDS = (
    "auto",
    "clean",
    "doctor",
    "dumpdb",
    "explain",
    "extract",
    "forget",
    "gc",
    "help",
    "ignore",
    "info",
    "init",
    "inspect",
    "keygen",
    "lint",
    "list",
    "precision",
    "release",
    "reset-dep",
    "run",
    "schema",
    "strace",
    "tabcompletion",
    "verify",
    "verify-store",
)
"""Commands of doit and of ascendflow, those to come included: no model may be named so."""
