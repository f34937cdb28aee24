"""Reductions whose axes are an input: not read everywhere, and refused where it is a sum.

* ReduceSum, opset 13 on: from June 2021 until at least 6.0 two inputs are accepted only
  with noop_with_empty_axes other than 0; with 0, its default, the parser fails. 8.5 takes
  both.
* ReduceMean, ReduceMax, ReduceMin, ReduceProd and the others got the input with opset 18,
  for which 8.5 registers parsers that read an attribute only (and none of ReduceL1 and
  ReduceL2: `reduce-norm-unregistered`). Since 9.1 those of ReduceMax,
  ReduceMin, ReduceProd, ReduceLogSum and ReduceLogSumExp read the input; that of ReduceMean
  follows on master. What becomes of an input that is not read is not known: the axes are
  taken to be all, or the model is refused.

Source: canndev `reduce_sum_plugin.cc`, 2021-06 to 2022-06; ops-math
`reduce_*_onnx_plugin.cpp`, 8.5.0, 9.0.0, 9.1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.graph.reductions import NOOP, REDUCTIONS, Axes, reads_axes

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.cann.profile import Profile

_READ_SINCE = (9, 1)
_READ = frozenset(
    {"ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceProd"}
)


class ReduceAxesInput(NodeDeviation):
    """Axes where the parser does not look."""

    name: ClassVar[str] = "reduce-axes-input"
    op_types: ClassVar[frozenset[str]] = REDUCTIONS - {"ReduceL1", "ReduceL2"}
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected", "unknown")
    onnx: ClassVar[str] = (
        "Axes are an input: of ReduceSum since opset 13, of the others since 18."
    )
    cann: ClassVar[str] = (
        "Up to 6.0 ReduceSum is refused with axes and noop_with_empty_axes=0. From 8.5 on "
        "the others read an attribute only; since 9.1 some read the input."
    )
    cure: ClassVar[str | None] = "reduce-axes-input"
    source: ClassVar[str] = (
        "canndev reduce_sum_plugin.cc 2021-06 to 2022-06; ops-math "
        "reduce_*_onnx_plugin.cpp 8.5.0, 9.0.0, 9.1.0"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "high")
    """Read at both ends: up to 6.0, and from 8.5 on."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look at the inputs, and at what the release's parser reads."""
        if "axes" in node.attributes or reads_axes(node) is Axes.ABSENT:
            return Harmless("its axes are no input")
        profile = conditions.profile
        if node.op_type == "ReduceSum":
            if profile.is_read and not node.attributes.get_int(NOOP, 0):
                return Found(f"it has an axes input, and {NOOP} is 0", "rejected")
            return Harmless("the input is read")
        if (reason := _why_not_missed(node, profile)) is not None:
            return Harmless(reason)
        return Found(f"CANN {profile.version} reads no axes input", "unknown")


def _why_not_missed(node: ir.Node, profile: Profile) -> str | None:
    """Say why a reduction other than ReduceSum does not miss its axes, or None."""
    if reads_axes(node) is Axes.EMPTY:
        return "an empty list of axes is read as none is"
    if not profile.is_open:
        return "no parser was read for the opset that has this input"
    if tuple(profile.release) >= _READ_SINCE and node.op_type in _READ:
        return f"CANN {profile.version} reads the input"
    return None
