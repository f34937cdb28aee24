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
