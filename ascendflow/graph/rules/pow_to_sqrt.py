"""Pow with a constant exponent: 0.5 -> Sqrt, -1 -> Reciprocal, and four more.

CANN computes Pow as exp(y ln |x|), on 310 in fp16. The root and the reciprocal are
operators of their own. In onnxruntime both spellings are within an ulp or two of each
other. They part at -inf, of which Pow makes inf and Sqrt NaN, and at -0, which Sqrt keeps:
so 0 is added before a root that is inverted, which makes +0 of it.

Source: canndev and 8.1.RC1 `dynamic/pow.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.powers import POWERS, constant_power
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class PowToSqrt(Rule):
    """Spell roots, reciprocals and even powers without a logarithm."""

    name: ClassVar[str] = "pow-to-sqrt"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Pow"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one Pow."""
        power = constant_power(node)
        if isinstance(power, str):
            yield Skipped(node, power)
        elif power not in POWERS:
            known = ", ".join(f"{number:g}" for number in POWERS)
            yield Skipped(node, f"its exponent is {power:g}, not one of {known}")
        else:
            steps = POWERS[power]
            _spell(node, steps)
            yield Applied(node, before={"exponent": power}, after={"steps": list(steps)})


def _spell(node: ir.Node, steps: tuple[str, ...]) -> None:
    base = node.inputs[0]
    assert base is not None  # noqa: S101, `constant_power` has seen it
    assert base.dtype is not None  # noqa: S101
    chain, value = Chain(node), base
    if steps == ("Sqrt", "Reciprocal"):
        zero = chain.constant("zero", np.zeros((), base.dtype.numpy()))
        value = chain("Add", [value, zero])
    for step in steps:
        match step:
            case "Square":
                value = chain("Mul", [value, value])
            case "Times":
                value = chain("Mul", [value, base])
            case _:
                value = chain(step, [value])
    chain.put_in_place()
