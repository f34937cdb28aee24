"""Pow with a constant whole exponent: 1, 2 or 3 -> Identity, Mul, Mul and Mul.

CANN computes Pow as exp(y ln |x|), on 310 in fp16; products need no logarithm. In
onnxruntime the bits stay: it multiplies for the exponents 2 and 3 itself, and a power of 1
is its base. Where the base's last axis has one element it does not multiply, and bits may
change, so such nodes are left alone. Other exponents are for `pow-to-sqrt`, whose promise
is weaker.

Source: canndev and 8.1.RC1 `dynamic/pow.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.edit import Chain
from ascendflow.graph.powers import POWERS, PRODUCTS, constant_power
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class PowToMul(Rule):
    """Spell small whole powers as products."""

    name: ClassVar[str] = "pow-to-mul"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Pow"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one Pow."""
        power = constant_power(node)
        if isinstance(power, str):
            yield Skipped(node, power)
        elif power not in PRODUCTS:
            other = "; the rule 'pow-to-sqrt' has it" if power in POWERS else ""
            yield Skipped(node, f"its exponent is {power:g}, not 1, 2 or 3{other}")
        elif power > 1 and not _is_multiplied(node.inputs[0]):
            yield Skipped(node, "its base's last axis has one element, or is not fixed")
        else:
            x = node.inputs[0]
            chain = Chain(node)
            square = chain("Mul", [x, x]) if power > 1 else chain("Identity", [x])
            if power > 2:
                chain("Mul", [square, x])
            chain.put_in_place()
            after = {"op_type": "Mul" if power > 1 else "Identity"}
            yield Applied(node, before={"exponent": power}, after=after)


def _is_multiplied(base: ir.Value | None) -> bool:
    """Return whether onnxruntime multiplies `base` with itself, by its last axis."""
    shape = () if base is None or base.shape is None else tuple(base.shape)
    return bool(shape) and isinstance(shape[-1], int) and shape[-1] > 1
