"""LogSoftmax before opset 13: along one axis, which is the last where none is given.

The parser takes axis -1 by default in every opset from 8 on, where ONNX's default was 1
until opset 12, and it never asks for the reshapes that coerce to two dimensions, as the
Softmax parser does.

Source: canndev `logsoftmax_plugin.cc`, 2022-06; ops-nn `logsoftmax_onnx_plugin.cpp`, 9.1.0
and master.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.per_axis import normalise_along
from ascendflow.graph.legacy_axis import coerces, read_legacy_axis

if TYPE_CHECKING:
    import onnx_ir as ir

_CANN_DEFAULT = -1


class LogSoftmaxLegacyAxis(NodeDeviation):
    """No coercion, and another default axis."""

    name: ClassVar[str] = "logsoftmax-legacy-axis"
    op_types: ClassVar[frozenset[str]] = frozenset({"LogSoftmax"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "Before opset 13 `axis` is 1 by default; the input is coerced to two dimensions at "
        "it, and normalised over the second."
    )
    cann: ClassVar[str] = (
        "`axis` is -1 by default in every opset, and no more than an axis."
    )
    cure: ClassVar[str | None] = "logsoftmax-legacy"
    source: ClassVar[str] = (
        "canndev logsoftmax_plugin.cc 2022-06; ops-nn logsoftmax_onnx_plugin.cpp 9.1.0, "
        "master"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "high")
    """Read at both ends: up to 6.0, and from 8.5 on."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Compare over which axes ONNX and CANN normalise."""
        legacy = read_legacy_axis(node)
        if isinstance(legacy, str):
            return Found(legacy, "unknown") if coerces(node) else Harmless(legacy)
        here = _cann_axis(node, legacy.rank)
        if legacy.is_last and here == legacy.axis:
            return Harmless(f"axis {here} is the last: nothing is coerced")
        return Found(
            f"normalised along axis {here} alone, not over axes {legacy.axis} to "
            f"{legacy.rank - 1}",
            "silent",
        )

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Normalise along the one axis."""
        legacy = read_legacy_axis(node)
        if isinstance(self.detect(node, conditions), Found) and not isinstance(legacy, str):
            normalise_along(node, _cann_axis(node, legacy.rank), legacy.rank)


def _cann_axis(node: ir.Node, rank: int) -> int:
    return node.attributes.get_int("axis", _CANN_DEFAULT) % rank
