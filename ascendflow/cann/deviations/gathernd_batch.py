"""GatherND with batch_dims: dropped up to 6.0, refused from 8.5 on.

canndev's plugin logs that batch_dims is not supported and sets an attribute that the
operator GatherNd does not have: indices count from the first axis of the data, whatever
batch they are in, and the output has another shape. Where constant indices are outside of
the data then, nothing is known. ops-nn refuses batch_dims.

Sources: canndev `gather_nd_plugin.cc`, `selection_ops.h` (REG_OP(GatherNd)); ops-nn 8.5.0
to 9.1.0 `gather_nd_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.graph.nodes import constant, static_shape

if TYPE_CHECKING:
    import onnx_ir as ir


class GatherNDBatch(NodeDeviation):
    """Batches that the operator does not know of."""

    name: ClassVar[str] = "gathernd-batch"
    op_types: ClassVar[frozenset[str]] = frozenset({"GatherND"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "rejected", "unknown")
    onnx: ClassVar[str] = "The first batch_dims axes of data and indices go together."
    cann: ClassVar[str] = "batch_dims is dropped up to 6.0, and refused from 8.5 on."
    cure: ClassVar[str | None] = "gathernd-flatten"
    source: ClassVar[str] = (
        "canndev gather_nd_plugin.cc, selection_ops.h; ops-nn 8.5.0 to 9.1.0 "
        "gather_nd_onnx_plugin.cpp"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "high")
    """Both ends were read; which of the two comes between is not known."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Read the attribute."""
        batches = node.attributes.get_int("batch_dims", 0)
        if not batches:
            return Harmless("there are no batches")
        reason = f"batch_dims is {batches}"
        if conditions.profile.is_open:
            return Found(reason, "rejected")
        if conditions.profile.is_read:
            if _leaves_the_data(node):
                return Found(f"{reason}, and without it indices are outside", "unknown")
            return Found(f"{reason}, and is dropped", "silent")
        version = conditions.profile.version
        return Found(f"{reason}: CANN {version} drops or refuses it", "unknown")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Drop the attribute."""
        node.attributes.pop("batch_dims", None)


def _leaves_the_data(node: ir.Node) -> bool:
    """Return whether constant indices, read without batches, name what is not there."""
    indices, shape = constant(node.inputs[1]), static_shape(node.inputs[0])
    if indices is None or shape is None:
        return False
    lengths = shape[: indices.shape[-1]]
    return bool(((indices >= lengths) | (indices < [-n for n in lengths])).any())
