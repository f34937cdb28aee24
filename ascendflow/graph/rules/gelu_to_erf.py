"""Gelu -> 0.5 * x * (1 + erf(x / sqrt(2))), or its tanh form where that is asked for.

No CANN has a parser for Gelu. ONNX's own came with opset 20, which is too new for CANN in
any case; but onnxruntime's optimiser leaves `com.microsoft::Gelu` in models of every
opset, and a model in opset 20 can be brought lower once its Gelus are gone.

The argument is multiplied by sqrt(1/2) and not divided by sqrt(2): CANN fuses the
spelling with Div into a kernel that computes the tanh approximation.

Source: ONNX operator docs, Gelu-20; onnxruntime contrib operators; canndev
`gelu_onnx_fusion_pass.cc`, which wants a Div.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import why_not_float32
from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

_DOMAINS = (*DEFAULT_DOMAINS, "com.microsoft")


class GeluToErf(Rule):
    """Spell Gelu out."""

    name: ClassVar[str] = "gelu-to-erf"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Gelu"})
    effect: ClassVar[Effect] = "equivalent"

    def candidates(self, model: ir.Model) -> list[ir.Node]:
        """List ONNX's and onnxruntime's Gelu, in subgraphs too."""
        return [
            node
            for node in model.graph.all_nodes()
            if node.op_type in self.op_types and node.domain in _DOMAINS
        ]

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put the formula in the node's place."""
        x = node.inputs[0]
        if (reason := why_not_float32(x)) is not None:
            yield Skipped(node, reason)  # in float16 each step would round
            return
        assert x is not None  # noqa: S101, why_not_float32
        approximate = node.attributes.get_string("approximate", "none")
        if approximate not in {"none", "tanh"}:
            yield Skipped(node, f"approximate is {approximate!r}, not 'none' or 'tanh'")
            return
        _spell(node, x, tanh=approximate == "tanh")
        before = {"domain": node.domain, "approximate": approximate}
        yield Applied(
            node, before, after={"op_type": "Tanh" if "t" in approximate else "Erf"}
        )


def _spell(node: ir.Node, x: ir.Value, *, tanh: bool) -> None:
    chain = Chain(node)

    def number(role: str, value: float) -> ir.Value:
        return chain.constant(role, np.array(value, np.float32))

    if tanh:
        squared = chain("Mul", [chain("Mul", [x, x]), number("cubic", 0.044715)])
        inner = chain("Mul", [x, chain("Add", [squared, number("linear", 1)])])
        scaled = chain("Mul", [inner, number("scale", math.sqrt(2 / math.pi))])
        curve = chain("Tanh", [scaled])
    else:
        curve = chain("Erf", [chain("Mul", [x, number("scale", math.sqrt(0.5))])])
    gate = chain("Add", [curve, number("one", 1)])
    chain("Mul", [chain("Mul", [x, gate]), number("half", 0.5)])
    chain.put_in_place()
