"""What was checked and is computed as ONNX says: no deviation, so nothing to look for."""

from __future__ import annotations

from typing import NamedTuple


class Equal(NamedTuple):
    """Operators, what is equal about them, and where it was read."""

    operators: str
    text: str
    source: str


EQUAL: tuple[Equal, ...] = (
    Equal(
        operators="Celu",
        text="One alpha goes to two of the kernel's three, and the third stays 1.",
        source="canndev celu_plugin.cc 2022-06",
    ),
    Equal(
        operators="BatchNormalization, Elu, HardSigmoid, InstanceNormalization, LeakyRelu",
        text="The parser's defaults are ONNX's: 1e-5, 1, 0.2 and 0.5, 1e-5, 0.01.",
        source="canndev batch_normalization_plugin.cc, elu_plugin.cc, "
        "hard_sigmoid_plugin.cc, instancenormalization_plugin.cc, "
        "leakyrelu_plugin.cc 2022-06",
    ),
    Equal(
        operators="DepthToSpace",
        text="Both orders, DCR and CRD, are supported.",
        source="canndev depth_to_space_plugin.cc 2022-06",
    ),
    Equal(
        operators="RoiAlign",
        text="Up to opset 15 boxes are not shifted and are at least one pixel wide; from "
        "16 on half_pixel shifts them by half a pixel, and output_half_pixel does not.",
        source="canndev roiAlign_plugin.cc 2022-06; ops-cv roi_align_onnx_plugin.cpp 9.1.0;"
        " CANN 8.1.RC1 dynamic/roi_align.py",
    ),
    Equal(
        operators="Clip before opset 11",
        text="It runs in fp32 whatever its data is; what it gives is rounded afterwards.",
        source="canndev clip_plugin.cc 2022-06; ops-math clip_onnx_plugin.cpp 9.1.0",
    ),
    Equal(
        operators="BatchNormalization in training mode",
        text="It is handed on as is_training; a pipeline refuses it before, since its "
        "values depend on the batch.",
        source="canndev batch_normalization_plugin.cc 2022-06",
    ),
    Equal(
        operators="Pad before opset 11",
        text="reflect goes to MirrorPad, every other mode to PadV3.",
        source="canndev onnx_plugin 2022-06",
    ),
    Equal(
        operators="Operators on int64",
        text="AI Core mostly has no int64 kernel; AI CPU runs them, slower and with the "
        "same values. What becomes int32 is `arg-int32` and `topk-int64`; the rule "
        "`int64-to-int32` narrows indices that are proven to fit.",
        source="CANN 8.1.RC1 aic-<soc>-ops-info.json, aicpu_kernel.json",
    ),
    Equal(
        operators="Mod of floats",
        text="fmod must be 1 there, and the remainder is C's in both.",
        source="ops-math mod_onnx_plugin.cpp 8.5.0 to master; CANN 8.1.RC1 mod.py",
    ),
)
