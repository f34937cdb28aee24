"""Names of what OM files number: partitions, kinds of models, element types, layouts.

Element types are numbered twice, and not alike: protobuf's numbers stand in MODEL_DEF,
those of the C++ enum (which pyACL shows too) in MODEL_INOUT_INFO.
Source: GE framework_types_internal.h, ge_ir.proto and executor_c/types.h, master 2026-07.
"""

from __future__ import annotations

PARTITIONS = {
    0: "MODEL_DEF",
    1: "WEIGHTS_DATA",
    2: "TASK_INFO",
    3: "TBE_KERNELS",
    4: "CUST_AICPU_KERNELS",
    5: "SO_BINS",
    6: "FLOW_MODEL",
    7: "FLOW_SUBMODEL",
    8: "MODEL_INOUT_INFO",
    9: "STATIC_TASK_DESC",
    10: "DYNAMIC_TASK_DESC",
    11: "TASK_PARAM",
    12: "TILING_DATA",
    20: "PRE_MODEL_DESC",
    21: "PRE_MODEL_SQE",
    22: "PRE_KERNEL_ARGS",
    23: "PRE_MODEL_DESC_EXTEND",
    24: "BUNDLE_MODEL_INFO",
    25: "BUNDLE_MODEL_VAR_INFO",
    26: "CUSTOM_OPS",
}

FLOW, BUNDLE = 3, 5
MODEL_TYPES = {0: "IR", 1: "standard", 2: "tiny", FLOW: "flow", 4: "lite", BUNDLE: "bundle"}

FRAMEWORKS = {0: "Caffe", 1: "MindSpore", 3: "TensorFlow", 5: "ONNX"}
"""As `atc --framework` has them."""

_ALIKE = {
    13: "string",
    14: "dual_sub_int8",
    15: "dual_sub_uint8",
    16: "complex64",
    17: "complex128",
    18: "qint8",
    19: "qint16",
    20: "qint32",
    21: "quint8",
    22: "quint16",
    23: "resource",
    24: "string_ref",
    25: "dual",
    26: "variant",
    27: "bfloat16",
}

PROTO_DTYPES = {
    0: "undefined",
    1: "float32",
    2: "float16",
    3: "int8",
    4: "uint8",
    5: "int16",
    6: "uint16",
    7: "int32",
    8: "int64",
    9: "uint32",
    10: "uint64",
    11: "bool",
    12: "float64",
    **_ALIKE,
    28: "int4",
    29: "uint1",
    30: "int2",
    31: "uint2",
    32: "complex32",
    33: "hifloat8",
    34: "float8_e5m2",
    35: "float8_e4m3fn",
    36: "float8_e8m0",
    37: "float6_e3m2",
    38: "float6_e2m3",
    39: "float4_e2m1",
    40: "float4_e1m2",
    41: "hifloat4",
}

ACL_DTYPES = {
    0: "float32",
    1: "float16",
    2: "int8",
    3: "int32",
    4: "uint8",
    6: "int16",
    7: "uint16",
    8: "uint32",
    9: "int64",
    10: "uint64",
    11: "float64",
    12: "bool",
    **_ALIKE,
    28: "undefined",
    29: "int4",
    30: "uint1",
    31: "int2",
    32: "uint2",
}

FORMATS = {
    0: "NCHW",
    1: "NHWC",
    2: "ND",
    3: "NC1HWC0",
    4: "FRACTAL_Z",
    12: "NC1HWC0_C04",
    13: "FRACTAL_Z_C04",
    14: "CHWN",
    16: "HWCN",
    27: "NDHWC",
    29: "FRACTAL_NZ",
    30: "NCDHW",
    31: "DHWCN",
    32: "NDC1HWC0",
    33: "FRACTAL_Z_3D",
    34: "CN",
    35: "NC",
    36: "DHWNC",
    47: "NCL",
}
"""Those that an input or an output has; any other is shown as its number."""


def named(names: dict[int, str], number: int) -> str:
    """Name a number, or spell it where no name is known."""
    return names.get(number, f"unknown ({number})")
