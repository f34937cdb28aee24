"""Whether a tensor is still given, once others were put in its node's place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_ir as ir


@dataclass(frozen=True)
class Given:
    """A tensor that a node gives, and who reads it; what nothing reads may go.

    Attributes:
        value: the tensor.
        name: its name then.
        uses: its readers then.
        is_graph_output: whether it was an output of its graph.
    """

    value: ir.Value
    name: str | None
    uses: tuple[tuple[ir.Node, int], ...]
    is_graph_output: bool

    @classmethod
    def of(cls, value: ir.Value) -> Given:
        """Take a tensor as it is before the edit."""
        return cls(
            value,
            value.name,
            tuple((use.node, use.idx) for use in value.uses()),
            value.is_graph_output(),
        )

    def is_lost(self, graph: ir.Graph | ir.Function) -> bool:
        """Return whether nothing gives a tensor of the name any more, and it is read."""
        if not self.name or not (self.uses or self.is_graph_output):
            return False
        readers = (node.inputs[index] for node, index in self.uses if node.graph)
        now = next((value for value in readers if value is not None), None)
        if now is not None and not self.is_graph_output:
            return now.name != self.name or now.producer() is None
        given = (value.name for node in graph for value in node.outputs)
        return self.name not in given
