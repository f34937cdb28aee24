"""No kernel takes the types that a node has in the precision mode.

AI Core refuses a node of which some floating tensor may not be lowered to what its kernel
has (FE, CheckPrecisionReduce): an fp32 tensor under must_keep_origin_dtype or keep_dtype,
or of an operator on the black list. The node then goes to AI CPU. Where AI CPU has no such
kernel the build fails; of most operators it was not looked up what AI CPU has.
Types that customize_dtypes asks for and no kernel has fail the build.

Sources: GE `sub_ops_store.cc`, `op_format_dtype_judge.cc`, `--customize_dtypes.md`; CANN
8.1.RC1 `aic-<soc>-ops-info.json`, `aicpu_kernel.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.deviations.deviation import Conditions, Confidences, ModelDeviation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.cann.detection import Consequence, Found


class KernelDtype(ModelDeviation):
    """A node that neither AI Core nor a known AI CPU kernel runs."""

    name: ClassVar[str] = "kernel-dtype"
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected", "unknown")
    onnx: ClassVar[str] = "Every operator takes every floating type that it lists."
    cann: ClassVar[str] = (
        "A kernel takes the types that its SoC family's table lists. What may not be "
        "lowered to them goes to AI CPU, or fails the build."
    )
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "GE sub_ops_store.cc CheckPrecisionReduce, op_format_dtype_judge.cc; CANN 8.1.RC1 "
        "aic-<soc>-ops-info.json, aicpu_kernel.json"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "high", "high")
    """The rule and the tables were read in source."""

    def detect(
        self,
        model: ir.Model,  # noqa: ARG002, the choices are by node
        conditions: Conditions,
    ) -> Iterator[tuple[ir.Node | None, Found]]:
        """Give the nodes for which no types could be chosen."""
        for node, choice in conditions.choices.items():
            if choice.problem is not None:
                yield node, choice.problem
