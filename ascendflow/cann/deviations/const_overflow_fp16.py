"""Constants beyond +-65504 in kernels that run in fp16.

fp32 constants are cast where the model is compiled. From 8.5 on `--is_weight_clip`, which
is on by default, clips them to +-65504 before that Cast, infinities too. Before, the Cast
does what the SoC does: saturate, or give infinity, which times 0 is NaN.

Source: GE `constant_clip_pass.cc` (8.5.0 to master), `--is_weight_clip.md`; the overflow
modes of `cann.soc`. When before 8.5 the option came is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.constants import COMPUTING, float_constants, readable
from ascendflow.graph.fp16 import beyond
from ascendflow.graph.masks import feeds_softmax
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.documents.conversion import Confidence


_ROUNDED = 65520.0
"""Numbers below it round to 65504, the largest of fp16, wherever numbers are rounded."""


class ConstOverflow(NodeDeviation):
    """A constant of one node that fp16 cannot hold; masks have a deviation of their own."""

    name: ClassVar[str] = "const-overflow-fp16"
    op_types: ClassVar[frozenset[str]] = COMPUTING
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "precision")
    onnx: ClassVar[str] = "Constants are fp32 numbers, up to 3.4e38."
    cann: ClassVar[str] = (
        "Where the kernel runs in fp16, constants beyond +-65504 become +-65504 or, before "
        "8.5 on 910B and 910_93, infinity, and 0 times that is NaN. Either is silently "
        "wrong; only below 65520 is it rounding, as of any number. Masks before Softmax, "
        "where -65504 masks as well as -1e9, are for `mask-overflow-fp16`."
    )
    cure: ClassVar[str | None] = "clamp-constants"
    source: ClassVar[str] = (
        "GE constant_clip_pass.cc 8.5.0 to master, --is_weight_clip.md; CANN runtime "
        "aclrtFloatOverflowMode"
    )

    def confidence(self, conditions: Conditions) -> Confidence:
        """How the SoC overflows; whether constants were clipped before 8.5 is not known."""
        if conditions.soc.overflow == "saturate":
            return conditions.soc.overflow_confidence
        return "high" if conditions.profile.is_open else "medium"

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find the constant that is farthest out."""
        found = overflow(node, conditions)
        if isinstance(found, Found) and feeds_softmax(node):
            return Harmless("it is a mask before Softmax: see mask-overflow-fp16")
        return found


def overflow(node: ir.Node, conditions: Conditions) -> Detection:
    """Say which constant of `node` leaves fp16's range, and what becomes of it."""
    if not conditions.half:
        return Harmless("the kernel gets fp32")
    found: list[tuple[float, str]] = []
    for _, value in float_constants(node):
        array = readable(value, any_size=conditions.all_weights)
        if array is not None and not _changes(np.inf, conditions):
            array = array[~np.isinf(array)]
        worst = None if array is None else beyond(array)
        if worst is not None and _changes(worst, conditions):
            found.append((worst, str(value.name)))
    if not found:
        return Harmless("every constant that was read is within fp16's range")
    worst, name = max(found, key=lambda each: abs(each[0]))
    becomes = _becomes(worst, conditions)
    keeps = np.isfinite(becomes) and (abs(worst) < _ROUNDED or feeds_softmax(node))
    return Found(
        f"constant {name!r} holds {worst:.9g}, which becomes {becomes:.9g}",
        "precision" if keeps else "silent",
    )


def _becomes(number: float, conditions: Conditions) -> float:
    if conditions.soc.overflow == "inf" and not conditions.clips_weights:
        with np.errstate(over="ignore"):
            return float(np.float16(number))
    return float(np.clip(number, -HALF_MAX, HALF_MAX))


def _changes(number: float, conditions: Conditions) -> bool:
    return _becomes(number, conditions) != number
