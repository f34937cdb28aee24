"""ATC's own words: what its options and its files take, spelled as ATC spells it."""

from __future__ import annotations

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

FILES = (
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
"""Options whose value is a file; a manifest names it, or says what it holds."""

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
