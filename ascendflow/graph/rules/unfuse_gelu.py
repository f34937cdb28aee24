"""Erf-Gelu: Add(erf, 1) -> Sub(erf, -1).

canndev's GeluONNXFusionPass makes one `Gelu` of x * 0.5 * (1 + erf(x / sqrt(2))), whose
kernel computes the tanh formula instead. It looks for an Add; a Sub of -1 gives the very
same bits, in fp32 and in fp16, and is not seen. The five operators then run one by one,
which costs time; in fp16 it may cost as much precision as the tanh formula does, so this
is a rule for models that keep fp32, and for patterns that were no Gelu.

Source: canndev `gelu_onnx_fusion_pass.cc`, 2021-05 to 2022-06.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.erf_gelu import erf_gelu
from ascendflow.graph.nodes import constant
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class UnfuseGelu(Rule):
    """Keep the parser from seeing a Gelu."""

    name: ClassVar[str] = "unfuse-gelu"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Add"})
    effect: ClassVar[Effect] = "exact"

    def candidates(self, model: ir.Model) -> list[ir.Node]:
        """List the Adds that read an Erf: others are not worth a word in the log."""
        return [
            node
            for node in super().candidates(model)
            if any(value is not None and _is_erf(value) for value in node.inputs)
        ]

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put a Sub in the place of the pattern's Add."""
        found = erf_gelu(node)
        if isinstance(found, str):
            yield Skipped(node, f"CANN does not fuse it: {found}")
            return
        chain = Chain(node)
        erf, one = sorted((v for v in node.inputs if v is not None), key=_is_erf)[::-1]
        array = constant(one)
        assert array is not None  # noqa: S101, the pattern has it
        chain("Sub", [erf, chain.constant("minus_one", np.negative(array))])
        chain.put_in_place()
        yield Applied(node, before={"op_type": "Add"}, after={"op_type": "Sub"})


def _is_erf(value: ir.Value) -> bool:
    producer = value.producer()
    return producer is not None and producer.op_type == "Erf"
