"""Gelu spelled with Erf, as exporters write it: x * 0.5 * (1 + erf(x / sqrt(2))).

What is found here is what canndev's GeluONNXFusionPass finds, no more and no less: a Div
by 1.41421 (a Mul by its reciprocal is not seen), an Add of 1, a Mul by 0.5 before or after
the product, each with one reader, and each constant an fp32 scalar.

Source: canndev `gelu_onnx_fusion_pass.cc`, 2021-05 to 2022-06.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.graph.nodes import constant

if TYPE_CHECKING:
    import onnx_ir as ir

_ROOT, _TOLERANCE = 1.41421, 1e-5


@dataclass(frozen=True)
class ErfGelu:
    """The five nodes.

    Attributes:
        div: x / sqrt(2); its first input is the x that the fused operator gets.
        last: the Mul that gives the result.
        halved: what is multiplied by 0.5 * (1 + erf): x, or (the pass does not look)
            some other tensor.
        inner: the nodes that go away, but for `last`.
    """

    div: ir.Node
    last: ir.Node
    halved: ir.Value
    inner: tuple[ir.Node, ...]

    @property
    def is_gelu(self) -> bool:
        """Whether the graph computes Gelu at all."""
        return self.halved is self.div.inputs[0]


def erf_gelu(add: ir.Node) -> ErfGelu | str:
    """Return the pattern around its Add, or why there is none."""
    erf = next((p for p in _producers(add) if p.op_type == "Erf"), None)
    if erf is None:
        return "it adds nothing to an Erf"
    if not _has_scalar(add, 1.0, 1e-7):
        return "what it adds to an Erf is not 1"
    div = next(iter(_producers(erf)), None)
    if div is None or div.op_type != "Div" or not _is_scalar(div.inputs[1], _ROOT):
        return "the Erf's argument is not divided by a constant sqrt(2)"
    reader = _only_reader(add)
    if any(_only_reader(node) is None for node in (div, erf)) or reader is None:
        return "a value inside the pattern is read elsewhere too"
    if reader.op_type != "Mul":
        return f"its sum goes to a {reader.op_type}, not a Mul"
    return _before(div, erf, add, reader) or _after(div, erf, add, reader)


def _before(div: ir.Node, erf: ir.Node, add: ir.Node, last: ir.Node) -> ErfGelu | None:
    """Match (y * 0.5) * (1 + erf)."""
    for half in _producers(last):
        if half.op_type == "Mul" and _has_scalar(half, 0.5, 1e-7) and _only_reader(half):
            halved = next(v for v in half.inputs if v and not _is_scalar(v, 0.5, 1e-7))
            return ErfGelu(div, last, halved, (div, erf, add, half))
    return None


def _after(div: ir.Node, erf: ir.Node, add: ir.Node, product: ir.Node) -> ErfGelu | str:
    """Match (x * (1 + erf)) * 0.5."""
    last = _only_reader(product)
    if div.inputs[0] not in product.inputs:
        return "no factor of the product is half of x, or x"
    if last is None or last.op_type != "Mul" or not _has_scalar(last, 0.5, 1e-7):
        return "the product is not multiplied by 0.5"
    x = div.inputs[0]
    assert x is not None  # noqa: S101, it is an input of the product
    return ErfGelu(div, last, x, (div, erf, add, product))


def _producers(node: ir.Node) -> list[ir.Node]:
    made = (value.producer() for value in node.inputs if value is not None)
    return [producer for producer in made if producer is not None]


def _only_reader(node: ir.Node) -> ir.Node | None:
    value = node.outputs[0]
    uses = list(value.uses())
    return uses[0][0] if len(uses) == 1 and not value.is_graph_output() else None


def _has_scalar(node: ir.Node, number: float, tolerance: float) -> bool:
    return any(_is_scalar(value, number, tolerance) for value in node.inputs)


def _is_scalar(
    value: ir.Value | None, number: float, tolerance: float = _TOLERANCE
) -> bool:
    """Return whether `value` is a constant fp32 scalar, or [1], next to `number`."""
    if value is None or value.shape is None or tuple(value.shape) not in {(), (1,)}:
        return False
    array = constant(value)
    if array is None or array.dtype != "float32":
        return False
    return abs(float(array.reshape(())) - number) <= tolerance
