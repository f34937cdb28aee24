"""Which shape each tensor has in each gear, where a model is built for a few shapes.

A size that gears leave open in the graph is one of a few numbers all the same: what holds
for each of them holds. Tensors inside of branches have no shape here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.fixed_shapes import shapes_with
from ascendflow.graph.nodes import static_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import onnx_ir as ir

    from ascendflow.graph.fixed_shapes import Shapes

_GEARS = "ascendflow.gears"
"""Key under which a graph keeps its gears, and an open tensor its shape in each."""


def lend_gears(model: ir.Model, gears: Sequence[Shapes]) -> None:
    """Note of each tensor of open shape what it has in each gear, where that is known.

    A tensor that has another rank in one, as a Squeeze may give it, has none here.

    Args:
        model: with its shapes.
        gears: the inputs' shapes, by name.
    """
    import onnx_ir as ir

    if not gears:
        return
    proto = ir.to_proto(model)
    found = [shapes_with(proto, each) for each in gears]
    for value in _tensors(model.graph):
        shapes = [each.get(value.name or "") for each in found]
        known = [shape for shape in shapes if shape is not None]
        ranks = {len(shape) for shape in (*known, value.shape) if shape is not None}
        if static_shape(value) is None and len(known) == len(gears) and len(ranks) == 1:
            value.meta[_GEARS] = shapes
    model.graph.meta[_GEARS] = list(gears)


def lent_gears(model: ir.Model) -> Sequence[Shapes]:
    """Return the gears that were lent; none where all shapes are as the graph says."""
    gears: Sequence[Shapes] = model.graph.meta.get(_GEARS, ())
    return gears


def in_each_gear(model: ir.Model) -> Iterator[str]:
    """Give the tensors their shapes in one gear after the other, and name it.

    They have their own again at the end. Without gears they keep them, once, for "".
    """
    import onnx_ir as ir

    lent = [value for value in _tensors(model.graph) if _GEARS in value.meta]
    own = [value.shape for value in lent]
    try:
        for index, gear in enumerate(gears := lent_gears(model)):
            for value in lent:
                value.shape = ir.Shape(value.meta[_GEARS][index])
            yield ", ".join(f"{name} {list(shape)}" for name, shape in gear.items())
    finally:
        for value, shape in zip(lent, own, strict=True):
            value.shape = shape
    if not gears:
        yield ""


def shapes_of(value: ir.Value | None) -> Sequence[tuple[int, ...]]:
    """Return the shape that `value` has in each gear, or its only one; none if unknown."""
    if (only := static_shape(value)) is not None or value is None:
        return [] if only is None else [only]
    shapes: Sequence[tuple[int, ...]] = value.meta.get(_GEARS, ())
    return shapes


def _tensors(graph: ir.Graph) -> Iterator[ir.Value]:
    yield from graph.inputs
    for node in graph:
        yield from node.outputs
