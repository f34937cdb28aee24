"""Mod of whole numbers: C's remainder, then the divisor added where the signs differ.

CANN's `Mod` is C's truncated remainder whatever `fmod` says. With fmod=1 ONNX's is too, so
both agree on the first step; the correction is made of comparisons. Nothing is added where
it could overflow: a remainder and a divisor of other signs sum to something smaller.

Source: ONNX operator docs, Mod-13; canndev `mod_plugin.cc`, 2022-06.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import constant
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

_CURED = frozenset({"INT32", "INT64"})


class ModSign(Rule):
    """Give the remainder its divisor's sign by comparing, not by `fmod`."""

    name: ClassVar[str] = "mod-sign"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Mod"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one Mod without fmod of int32 or int64."""
        dividend, divisor = node.inputs[0], node.inputs[1]
        dtype = None if dividend is None else dividend.dtype
        if node.attributes.get_int("fmod", 0):
            yield Skipped(
                node, "fmod is 1: the remainder has the dividend's sign in ONNX too"
            )
            return
        if dividend is None or divisor is None or dtype is None or dtype.name not in _CURED:
            name = "of unknown type" if dtype is None else dtype.name.lower()
            yield Skipped(node, f"operands are {name}, not int32 or int64")
            return
        chain = Chain(node)
        rest = chain("Mod", [dividend, divisor], {"fmod": 1})
        zero = chain.constant("zero", np.zeros((), dtype.numpy()))
        differs = _differs(chain, rest, divisor, zero)
        chain("Where", [differs, chain("Add", [rest, divisor]), rest])
        chain.put_in_place()
        yield Applied(node, {"fmod": 0}, {"fmod": 1, "corrected": "where the signs differ"})


def _differs(chain: Chain, rest: ir.Value, divisor: ir.Value, zero: ir.Value) -> ir.Value:
    """Say where the remainder is not 0 and has not the divisor's sign."""
    known = constant(divisor)
    if known is not None and bool((known > 0).all()):
        return chain("Less", [rest, zero])
    if known is not None and bool((known < 0).all()):
        return chain("Less", [zero, rest])
    signs = chain("Xor", [chain("Less", [rest, zero]), chain("Less", [divisor, zero])])
    return chain("And", [signs, chain("Not", [chain("Equal", [rest, zero])])])
