"""Concat: parts that are empty slices are dropped.

The Slice then gives a tensor that nothing reads, which CANN prunes.

Source: msit `knowledge_empty_slice_fix.py`, which removes such slices too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.empty_axis import empty_axis
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class EmptySlice(Rule):
    """Concatenate what there is."""

    name: ClassVar[str] = "empty-slice"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Concat"})
    effect: ClassVar[Effect] = "exact"

    def against(self, node: ir.Node, model: ir.Model) -> list[ir.Node]:  # noqa: ARG002
        """List the Concats that read an empty Slice."""
        readers = dict.fromkeys(use.node for use in node.outputs[0].uses())
        return [each for each in readers if each.op_type in self.op_types]

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Drop the empty parts."""
        axis = node.attributes.get_int("axis", 1)
        kept = [value for value in node.inputs if not _is_empty_slice(value, axis)]
        dropped = [v.name for v in node.inputs if v is not None and v not in kept]
        if not dropped:
            yield Skipped(node, "none of its parts is a slice known to be empty")
            return
        if not kept:
            yield Skipped(node, "all its parts are empty")
            return
        before = {"parts": len(node.inputs)}
        for index, value in enumerate(kept):
            node.replace_input_with(index, value)
        node.resize_inputs(len(kept))
        yield Applied(node, before, {"parts": len(kept), "dropped": dropped})


def _is_empty_slice(value: ir.Value | None, axis: int) -> bool:
    """Return whether a Slice gives `value` with length 0 along the axis of the Concat."""
    node = None if value is None else value.producer()
    if value is None or node is None or node.op_type != "Slice":
        return False
    empty = empty_axis(node)
    if empty is None:
        return False
    if value.shape is None:
        return empty == axis
    return empty % len(value.shape) == axis % len(value.shape)
