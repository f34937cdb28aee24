"""ArgMax, ArgMin: the last of several equal extremes -> the first, from the other end.

The data is reversed along the axis with a Gather, and the index is looked up in the
reversed list of indices: no arithmetic, so it does not matter whether CANN has the index
in int32 or in int64.

Source: ONNX operator docs, ArgMax-13; canndev `argmax_plugin.cc`, which refuses
select_last_index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import length_along
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class ArgLastIndex(Rule):
    """Count from the other end."""

    name: ClassVar[str] = "arg-last-index"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"ArgMax", "ArgMin"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put two Gathers around the node."""
        if not node.attributes.get_int("select_last_index", 0):
            yield Skipped(node, "select_last_index is 0")
            return
        x, axis = node.inputs[0], node.attributes.get_int("axis", 0)
        if (length := length_along(x, axis)) is None:
            yield Skipped(node, f"the length of axis {axis} is not fixed")
            return
        chain = Chain(node)
        backwards = chain.constant("backwards", np.arange(length)[::-1].astype(np.int64))
        turned = chain("Gather", [x, backwards], {"axis": axis})
        keepdims = node.attributes.get_int("keepdims", 1)
        first = chain(node.op_type, [turned], {"axis": axis, "keepdims": keepdims})
        chain("Gather", [backwards, first])
        chain.put_in_place()
        yield Applied(node, {"select_last_index": 1}, {"select_last_index": 0})
