"""Constant exponents of Pow, and what they can be spelled as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.nodes import constant

if TYPE_CHECKING:
    import onnx_ir as ir

PRODUCTS = (1.0, 2.0, 3.0)
"""Exponents that are a product of the base with itself, bit for bit."""

POWERS: dict[float, tuple[str, ...]] = {
    0.5: ("Sqrt",),
    -0.5: ("Sqrt", "Reciprocal"),
    -1.0: ("Reciprocal",),
    -2.0: ("Square", "Reciprocal"),
    1.5: ("Sqrt", "Times"),
    4.0: ("Square", "Square"),
}
"""Exponent -> steps: ONNX operators, `Square` (a value times itself) and `Times` (times
the base)."""


def constant_power(node: ir.Node) -> float | str:
    """Return the exponent of a Pow of floats, or why nothing can be put in its place."""
    base, exponent = node.inputs
    if base is None or base.dtype not in FLOATS:
        return "its base is no float"
    power = constant(exponent)
    if power is None:
        return "its exponent is no constant"
    if power.size != 1:
        return f"its exponent has {power.size} elements, not one"
    if power.ndim and (base.shape is None or power.ndim > len(base.shape)):
        return "its exponent may give the result more dimensions than the base has"
    return float(power.reshape(()))
