"""Softmax before opset 13: along one axis where ONNX coerces to two dimensions.

A pass (ASoftmaxFusionPass) inserts the reshapes that the coercion needs, where the rank is
3 or more and `axis` is not the last. It leaves alone:

* rank 2 with axis 0, where the kernel normalises each column;
* the shapes 1000x5x64x64 and 1000x12x48x48, which are on a list of exceptions.

Unknown dimensions are multiplied into the new shape as -1: two of them on one side of
`axis` give a positive product that is wrong.

Source: canndev `softmax_plugin.cc`, `softmaxv2_onnx_fusion_pass.cc`, 2022-06; ops-nn master
`softmax_onnx_plugin.cpp` marks the same nodes for the pass, which is closed there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.per_axis import normalise_along
from ascendflow.graph.legacy_axis import DEFAULT_AXIS, LegacyAxis, coerces, read_legacy_axis

if TYPE_CHECKING:
    import onnx_ir as ir


EXCEPTIONS = ((1000, 5, 64, 64), (1000, 12, 48, 48))
_RESHAPED_FROM = 3
"""The lowest rank for which the pass inserts reshapes."""


class SoftmaxLegacyAxis(NodeDeviation):
    """Nodes that the pass does not reshape."""

    name: ClassVar[str] = "softmax-legacy-axis"
    op_types: ClassVar[frozenset[str]] = frozenset({"Softmax"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "Before opset 13 the input is coerced to two dimensions at `axis`, and normalised "
        "over the second."
    )
    cann: ClassVar[str] = (
        "Rank 2 with axis 0, and the shapes 1000x5x64x64 and 1000x12x48x48, are normalised "
        "along `axis` alone."
    )
    cure: ClassVar[str | None] = "softmax-legacy"
    source: ClassVar[str] = (
        "canndev softmax_plugin.cc, softmaxv2_onnx_fusion_pass.cc 2022-06; ops-nn master "
        "softmax_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Find nodes whose coercion the pass leaves out."""
        legacy = read_legacy_axis(node)
        if isinstance(legacy, str):
            return _of_unknown_rank(node, legacy)
        if legacy.is_last:
            return Harmless(f"axis {legacy.axis} is the last: nothing is coerced")
        dims = _dims(node)
        if len(dims) < _RESHAPED_FROM or dims in EXCEPTIONS:
            shape = "x".join(map(str, dims))
            return Found(
                f"shape {shape} with axis {legacy.axis} is normalised along that axis "
                f"alone, not over axes {legacy.axis} to {legacy.rank - 1}",
                "silent",
            )
        if (side := _unknown_side(dims, legacy)) is not None:
            return Found(f"{side} axis {legacy.axis} two dimensions are unknown", "unknown")
        return Harmless("CANN inserts the reshapes that the coercion needs")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Normalise along the one axis."""
        legacy = read_legacy_axis(node)
        if isinstance(self.detect(node, conditions), Found) and not isinstance(legacy, str):
            normalise_along(node, legacy.axis, legacy.rank)


def _of_unknown_rank(node: ir.Node, reason: str) -> Detection:
    """From axis 1 on every rank is right: it is the last axis, or the pass reshapes."""
    if not coerces(node) or node.attributes.get_int("axis", DEFAULT_AXIS) >= 1:
        return Harmless(reason)
    return Found(reason, "unknown")


def _dims(node: ir.Node) -> tuple[object, ...]:
    value = node.inputs[0]
    return () if value is None or value.shape is None else tuple(value.shape)


def _unknown_side(dims: tuple[object, ...], legacy: LegacyAxis) -> str | None:
    """Say on which side of the axis the new shape's product goes wrong."""
    for side, part in (("before", dims[: legacy.axis]), ("from", dims[legacy.axis :])):
        # some exporters write -1 for unknown
        if sum(not isinstance(dim, int) or dim < 0 for dim in part) > 1:
            return side
    return None
