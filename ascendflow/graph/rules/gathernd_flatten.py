"""GatherND: batches -> indices that begin with the number of the batch.

Source: ONNX operator docs, GatherND-13; canndev `gather_nd_plugin.cc` and ops-nn
`gather_nd_onnx_plugin.cpp`, which know no batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import constant, static_shape
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir
    from numpy.typing import NDArray

    from ascendflow.documents.rewrite_log import Effect


class GatherNDFlatten(Rule):
    """Write the batch into the indices."""

    name: ClassVar[str] = "gathernd-flatten"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"GatherND"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put a GatherND without batches in the node's place."""
        batches = node.attributes.get_int("batch_dims", 0)
        if not batches:
            yield Skipped(node, "batch_dims is 0")
            return
        data, indices = node.inputs
        shape = static_shape(indices)
        if shape is None:
            yield Skipped(node, "the shape of its indices is not fixed")
            return
        grid = _numbers(shape, batches)
        chain = Chain(node)
        known = constant(indices)
        if known is None:
            number = chain.constant("batches", grid)
            full = chain("Concat", [number, indices], {"axis": -1})
        else:
            full = chain.constant("indices", np.concatenate([grid, known], axis=-1))
        chain("GatherND", [data, full])
        chain.put_in_place()
        yield Applied(node, {"batch_dims": batches}, {"batch_dims": 0})


def _numbers(shape: tuple[int, ...], batches: int) -> NDArray[np.int64]:
    """Return the batch of each index: shape[:-1] x batches."""
    along = np.meshgrid(*map(np.arange, shape[:-1]), indexing="ij")
    return np.stack(along[:batches], axis=-1).astype(np.int64)
