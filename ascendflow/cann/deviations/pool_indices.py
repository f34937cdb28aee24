"""MaxPool with Indices, or with storage_order 1: CANN refuses it.

The parser counts a node's outputs, named or not, and fails on more than one.

Sources: canndev `max_pool_plugin.cc`, 2022-06; ops-nn master `max_pool_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation

if TYPE_CHECKING:
    import onnx_ir as ir


class PoolIndices(NodeDeviation):
    """An output that no kernel gives."""

    name: ClassVar[str] = "pool-indices"
    op_types: ClassVar[frozenset[str]] = frozenset({"MaxPool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = "MaxPool gives Indices too, counted as storage_order says."
    cann: ClassVar[str] = "The parser fails on a second output and on storage_order 1."
    cure: ClassVar[str | None] = "drop-pool-indices"
    source: ClassVar[str] = (
        "canndev max_pool_plugin.cc 2022-06; ops-nn master max_pool_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Count the outputs."""
        if len(node.outputs) > 1:
            indices = node.outputs[1]
            used = bool(indices.uses()) or indices.is_graph_output()
            state = "used" if used else "not used"
            return Found(
                f"it gives Indices {indices.name!r}, which are {state}", "rejected"
            )
        if node.attributes.get_int("storage_order", 0) == 1:
            return Found("its storage_order is 1", "rejected")
        return Harmless("it gives its values only")
