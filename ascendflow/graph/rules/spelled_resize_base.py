"""What the rules that spell a Resize or Upsample otherwise share: no rule itself."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.resize_node import OP_TYPES, OnnxResize, read_resize
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir


class SpelledResize(Rule):
    """What the rules for nearest and for interpolating ones have in common."""

    op_types: ClassVar[frozenset[str]] = OP_TYPES

    @abstractmethod
    def why_no_concern(self, node: ir.Node) -> str | None:
        """Return why a node is not for this rule, whatever its sizes are, or None."""

    @abstractmethod
    def why_not(self, node: ir.Node, resize: OnnxResize) -> str | None:
        """Return why a node is left as it is, or None."""

    @abstractmethod
    def spell(self, node: ir.Node, resize: OnnxResize) -> Applied:
        """Respell or replace the node."""

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Respell or replace one Resize or Upsample."""
        reason = self.why_no_concern(node)
        resize = read_resize(node) if reason is None else reason
        if not isinstance(resize, str):
            reason = self.why_not(node, resize)
            yield self.spell(node, resize) if reason is None else Skipped(node, reason)
        else:
            yield Skipped(node, resize)
