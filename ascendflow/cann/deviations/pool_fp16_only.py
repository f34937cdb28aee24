"""Pools whose AI Core kernel has float16 only, whatever the precision mode.

AvgPoolV2 (2-D) takes fp16 and int8 on every SoC, AvgPool3D fp16 on 310P and 910A, MaxPoolV3
fp16 on 310, 310P, 310B and 910A. Where the mode may lower them, they run in fp16; where it
may not, AvgPoolV2 runs on AI CPU in fp32, which is no deviation, and MaxPoolV3 nowhere
(`kernel-dtype`). GlobalAveragePool is no such pool: it becomes ReduceMeanD. Under
force_fp16 everything is fp16, so that nothing is said of pools then.

The rounding is that of every fp16 kernel.

Sources: CANN 8.1.RC1 `aic-<soc>-ops-info.json`, fusion_config.json (Globalavgpoolpass);
canndev `globalavgpool_fusion_pass.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.atc_words import FORCE_FP16
from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation

if TYPE_CHECKING:
    import onnx_ir as ir


class PoolFp16Only(NodeDeviation):
    """An fp32 pool that runs in fp16 although the mode would have fp32."""

    name: ClassVar[str] = "pool-fp16-only"
    op_types: ClassVar[frozenset[str]] = frozenset({"AveragePool", "MaxPool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = "A pool computes in the type of its data."
    cann: ClassVar[str] = (
        "AvgPoolV2 has float16 only on every SoC, MaxPoolV3 on 310, 310P, 310B and 910A."
    )
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = "CANN 8.1.RC1 aic-<soc>-ops-info.json"
    confidences: ClassVar[Confidences] = Confidences("high", "high", "high")
    """The tables were read."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find fp32 pools in a mode that would have fp32, on a kernel that has not."""
        choice = conditions.choices.get(node)
        if choice is None or not choice.half or not choice.only_half:
            return Harmless("its kernel runs in float32, or has it")
        if conditions.settings.mode == FORCE_FP16:
            return Harmless("force_fp16 has everything in float16")
        data = node.inputs[0]
        if data is None or data.dtype is None or data.dtype.name != "FLOAT":
            return Harmless("its data is no float32")
        return Found(
            f"{choice.operator} has float16 only on {conditions.soc.family}, and the data "
            "is float32",
            "precision",
        )
