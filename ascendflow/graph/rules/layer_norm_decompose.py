"""LayerNormalization -> ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add.

canndev has no parser for it, ops-nn has one from 9.2 on. The spelling is the one that
PyTorch's exporter used before opset 17, which CANN fuses into one LayerNorm kernel.

Source: ONNX operator docs, LayerNormalization-17; canndev
`layer_norm_onnx_fusion_pass.cc`, cases 1 and 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import why_not_float32
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class LayerNormDecompose(Rule):
    """Spell LayerNormalization out."""

    name: ClassVar[str] = "layer-norm-decompose"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"LayerNormalization"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put the formula in the node's place."""
        axes = _axes(node)
        if isinstance(axes, str):
            yield Skipped(node, axes)
            return
        node.resize_outputs(1)  # those without a name are absent
        _spell(node, axes)
        yield Applied(node, before={}, after={"axes": axes})


def _axes(node: ir.Node) -> list[int] | str:
    """Return the axes that are normalised, or why nothing is done."""
    if (reason := why_not_float32(node.inputs[0])) is not None:
        return reason
    if any(value.name for value in node.outputs[1:]):
        return "it gives Mean or InvStdDev too"
    axis = node.attributes.get_int("axis", -1)
    if axis < 0:
        return list(range(axis, 0))
    x = node.inputs[0]
    if x is None or x.shape is None:
        return f"axis is {axis} and the rank of its input is unknown"
    return list(range(axis, len(x.shape)))


def _spell(node: ir.Node, axes: list[int]) -> None:
    x, scale, *bias = node.inputs
    chain = Chain(node)
    epsilon = np.float32(node.attributes.get_float("epsilon", 1e-5))

    def mean(value: ir.Value | None) -> ir.Value:
        if (node.version or 17) < 18:
            return chain("ReduceMean", [value], {"axes": axes})
        constant = chain.constant("axes", np.array(axes, np.int64))
        return chain("ReduceMean", [value, constant])

    deviation = chain("Sub", [x, mean(x)])
    two = chain.constant("two", np.array(2, np.float32))
    variance = mean(chain("Pow", [deviation, two]))
    spread = chain("Sqrt", [chain("Add", [variance, chain.constant("epsilon", epsilon)])])
    y = chain("Mul", [chain("Div", [deviation, spread]), scale])
    if bias and bias[0] is not None:
        chain("Add", [y, bias[0]])
    chain.put_in_place()
