"""Root of a mean square: sqrt(mean(x^2) + eps) -> s sqrt(mean((x / s)^2) + eps / s^2).

Squares leave fp16's range where |x| is above 255, in layer norms, RMS norms and L2 norms
that are spelled with single operators. The scale is an argument, a power of two:
`{name: scale-rmsnorm, nodes: [sqrt1], scale: 4}`, at least max |x| / 255. A power of two
changes exponents only, so fp32 gives the same bits.

What is scaled down must not vanish: the rule refuses a scale with which fp16 would round
eps / s^2 to 0. That leaves up to 16 for 1e-5, so |x| up to 4080.

CANN's LayerNormONNXFusionPass makes one LayerNorm, with fp32 inside, of a whole layer norm
in the form that exporters write. It does not know the scaled form, so this is for norms
that it does not know either, such as RMS norms.

Source: public reports of the method (operator scaling); canndev
`layer_norm_onnx_fusion_pass.cc` by name in 8.1.RC1 `fusion_config.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ascendflow.graph.constants import single
from ascendflow.graph.edit import Chain, attributes_of
from ascendflow.graph.fp16 import lost
from ascendflow.graph.rule import Applied, Finding, Skipped
from ascendflow.graph.rules.power_of_two_base import ScalingRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir


class _Norm(NamedTuple):
    """sqrt(mean(x^2) + epsilon), and the nodes that compute what the Sqrt takes."""

    x: ir.Value
    epsilon: float
    mean: ir.Node
    inner: tuple[ir.Node, ...]


class ScaleRmsnorm(ScalingRule):
    """Square numbers that are a power of two smaller."""

    name: ClassVar[str] = "scale-rmsnorm"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Sqrt"})
    advice: ClassVar[str] = "take one of max |x| / 255"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Scale what one Sqrt takes the root of."""
        found = _norm(node)
        if isinstance(found, str):
            yield Skipped(node, found)
        elif self._scale is None:
            yield Skipped(node, "no scale is given")
        elif lost(np.array(found.epsilon / self._scale**2)).any():
            yield Skipped(node, f"fp16 rounds {found.epsilon:g} / {self._scale}^2 to 0")
        else:
            _put_in_place(node, found, self._scale)
            yield Applied(node, before={"scale": 1}, after={"scale": self._scale})


def _norm(node: ir.Node) -> _Norm | str:
    """Return the pattern that ends in a Sqrt, or why there is none."""
    add = _producer(node.inputs[0], "Add")
    if add is None:
        return "it is not the root of a sum with an epsilon"
    mean = _producer(add.inputs[0], "ReduceMean") or _producer(add.inputs[1], "ReduceMean")
    epsilon = single(add.inputs[1])
    epsilon = single(add.inputs[0]) if epsilon is None else epsilon
    if mean is None or epsilon is None or epsilon <= 0:
        return "it is not the root of a mean and a constant epsilon above 0"
    square = _producer(mean.inputs[0], "Mul") or _producer(mean.inputs[0], "Pow")
    if square is None or (x := square.inputs[0]) is None:
        return "its mean is not that of squares"
    is_square = square.inputs[1] is x
    if square.op_type == "Pow":
        is_square = single(square.inputs[1]) == 2
    return (
        _Norm(x, epsilon, mean, (add, mean, square))
        if is_square
        else ("its mean is not that of squares")
    )


def _producer(value: ir.Value | None, op_type: str) -> ir.Node | None:
    node = None if value is None else value.producer()
    return node if node is not None and node.op_type == op_type else None


def _put_in_place(node: ir.Node, norm: _Norm, scale: int) -> None:
    chain = Chain(node)
    small = chain("Mul", [norm.x, chain.constant("inverse", np.float32(1 / scale))])
    square = chain("Mul", [small, small])
    taken = [square, *norm.mean.inputs[1:]]
    mean = chain("ReduceMean", taken, attributes_of(norm.mean))
    epsilon = np.float32(norm.epsilon) / np.float32(scale**2)
    total = chain("Add", [mean, chain.constant("epsilon", epsilon)])
    root = chain("Sqrt", [total])
    chain("Mul", [root, chain.constant("scale", np.float32(scale))])
    chain.put_in_place()
    for old in norm.inner:
        value = old.outputs[0]
        if old.graph is not None and not value.uses() and not value.is_graph_output():
            old.graph.remove(old, safe=True)
