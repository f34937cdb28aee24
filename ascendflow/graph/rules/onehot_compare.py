"""OneHot: every index compared with every position.

CANN's parser wraps indices that are out of range, where ONNX sets nothing. A comparison
with 0 to depth - 1 finds nothing for them either.

Before opset 11 ONNX says nothing of negative indices, so those nodes are left alone.

Source: ONNX operator docs, OneHot-11; canndev `onehot_plugin.cc`, 2022-06.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import constant
from ascendflow.graph.opset_spelling import unsqueezed
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

_WRAPS_SINCE = 11
_INDICES = frozenset({"INT32", "INT64"})


class OneHotCompare(Rule):
    """Replace OneHot of a known depth by a comparison and a choice."""

    name: ClassVar[str] = "onehot-compare"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"OneHot"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one node."""
        if (reason := _why_not(node)) is not None:
            yield Skipped(node, reason)
            return
        depth = constant(node.inputs[1])
        assert depth is not None  # noqa: S101, asked for before
        length = int(depth.ravel()[0])
        _compare(node, length)
        yield Applied(
            node, {"op_type": "OneHot"}, {"op_types": ["Equal", "Where"], "depth": length}
        )


def _why_not(node: ir.Node) -> str | None:
    """Return what of `node` is not known or not said, or None."""
    indices = node.inputs[0]
    if (node.version or 0) < _WRAPS_SINCE:
        return f"opset {node.version} says nothing of negative indices"
    if constant(node.inputs[1]) is None:
        return "its depth is not a constant"
    if indices is None or indices.dtype is None or indices.dtype.name not in _INDICES:
        return "its indices are not int32 or int64"
    if indices.shape is None:
        return "the rank of its indices is not known"
    return None


def _compare(node: ir.Node, length: int) -> None:
    chain, indices = Chain(node), node.inputs[0]
    assert indices is not None  # noqa: S101, asked for before
    assert indices.shape is not None  # noqa: S101, asked for before
    assert indices.dtype is not None  # noqa: S101, asked for before
    rank, dtype = len(indices.shape), indices.dtype.numpy()
    axis = node.attributes.get_int("axis", -1) % (rank + 1)
    zero, depth = (
        chain.constant(r, np.array(n, dtype)) for r, n in (("0", 0), ("n", length))
    )
    wrapped = chain("Add", [indices, depth])
    index = chain("Where", [chain("Less", [indices, zero]), wrapped, indices])
    across = [1] * (rank + 1)
    across[axis] = length
    places = chain.constant("places", np.arange(length, dtype=dtype).reshape(across))
    is_here = chain("Equal", [unsqueezed(chain, index, axis), places])
    first, second = (
        chain(
            "Gather",
            [node.inputs[2], chain.constant(f"value{n}", np.array(n))],
            {"axis": 0},
        )
        for n in (0, 1)
    )
    chain("Where", [is_here, second, first])
    chain.put_in_place()
