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
    "convert",
    "infer",
    "compare",
    "evaluate",
    "gate",
    "report",
)

RULES = (("resize-half-pixel", 1),)
"""(rule id, version) in the order in which the rules are applied."""

BACKENDS = ("emulator",)

PRECISION_MODES = (
    "force_fp16",
    "allow_mix_precision",
    "allow_fp32_to_fp16",
    "must_keep_origin_dtype",
    "force_fp32",
)
"""ATC's `--precision_mode` values that a manifest may name."""

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

ONNX_FILE_LIMIT = 2**31
"""Bytes from which on protobuf takes no file, whatever is in it."""

PLACES = ("pipeline", "repository", "ascendflow")
"""What records call the folders that files lie in; no root may be called so."""

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
