"""CastLike -> Cast to the type that the second input has.

canndev has no parser for CastLike, the open ops-math has one from 8.5 on.

Source: ONNX operator docs, CastLike-15; canndev `onnx_plugin` 2022-06; ops-math
`cast_like_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.edit import Chain
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class CastLikeToCast(Rule):
    """Name the type instead of a tensor that has it."""

    name: ClassVar[str] = "cast-like-to-cast"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"CastLike"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put a Cast in the node's place."""
        like = node.inputs[1]
        if like is None or like.dtype is None:
            yield Skipped(node, "the type of its second input is unknown")
            return
        chain = Chain(node)
        chain("Cast", [node.inputs[0]], {"to": int(like.dtype)})
        chain.put_in_place()
        yield Applied(node, before={"like": like.name}, after={"to": like.dtype.name})
