"""ScatterND, ScatterElements with a reduction -> gather, combine, scatter.

That is the same only where no place is written twice, so the indices must be constant and
unlike each other.

Source: ONNX operator docs, ScatterND-18, ScatterElements-18; ops-math
`similar_opp_onnx_plugin.cpp`, where the reduction is dropped.
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

_COMBINING = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}


class ScatterReduction(Rule):
    """Combine before the scatter instead of in it."""

    name: ClassVar[str] = "scatter-reduction"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"ScatterND", "ScatterElements"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put three nodes in the node's place."""
        reduction = node.attributes.get_string("reduction", "none")
        if reduction not in _COMBINING:
            yield Skipped(node, f"reduction is {reduction!r}")
            return
        if (reason := _why_not_apart(node)) is not None:
            yield Skipped(node, reason)
            return
        data, indices, updates = node.inputs
        gather, axis = "GatherND", {}
        if node.op_type == "ScatterElements":
            gather, axis = "GatherElements", {"axis": node.attributes.get_int("axis", 0)}
        chain = Chain(node)
        there = chain(gather, [data, indices], axis)
        combined = chain(_COMBINING[reduction], [there, updates])
        chain(node.op_type, [data, indices, combined], axis)
        chain.put_in_place()
        yield Applied(node, {"reduction": reduction}, {"reduction": "none"})


def _why_not_apart(node: ir.Node) -> str | None:
    """Return why two updates might go to one place, or None."""
    indices, shape = constant(node.inputs[1]), static_shape(node.inputs[0])
    if indices is None:
        return "its indices are computed, so a place may be written twice"
    if shape is None:
        return "the shape of its data is not fixed, so negative indices are unknown places"
    places = _places(node, indices, shape)
    if len(np.unique(places, axis=0)) < len(places):
        return "its indices name a place twice"
    return None


def _places(
    node: ir.Node, indices: NDArray[np.int64], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Return the places that are written, one row each."""
    if node.op_type == "ScatterND":
        rows: NDArray[np.int64] = indices.reshape(-1, indices.shape[-1])
        lengths = np.array(shape[: rows.shape[1]], np.int64)
        return np.asarray(np.where(rows < 0, rows + lengths, rows), np.int64)
    axis = node.attributes.get_int("axis", 0) % len(shape)
    places: list[NDArray[np.int64]] = [*np.indices(indices.shape, np.int64)]
    places[axis] = np.where(indices < 0, indices + shape[axis], indices)
    return np.stack(places, axis=-1).reshape(-1, len(shape))
