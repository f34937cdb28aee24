"""Pow on 310: exp(y ln |x|), every step in fp16, whatever the precision mode.

Its vector unit has no fp32 log, exp or division, so `Pow` casts even fp32 data to fp16.
Three roundings: of ln |x|, of the product, of exp. The second grows with the exponent of
what comes out: up to y ln |x| / 2048 is the relative error. At 0 the result is 1 for y = 0
and 0 for every other y, negative ones too. Below 0 it is (1 - 2 (|y| mod 2)) exp(y ln |x|).

Other SoCs compute the same in fp32, which keeps more than fp16 results show.

A constant fp32 exponent 2 never gets there: Pow2SquareFusionPass makes it `Square`, x * x.

Sources: canndev `dynamic/pow.py`, `pow_2_square_fusion_pass.cc`, 2020-10 to 2022-06;
8.1.RC1 `dynamic/pow.py` (the same path on 310), `platform_config/Ascend310.ini`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from ascendflow.cann.steps import Steps
from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.nodes import constant

if TYPE_CHECKING:
    from ascendflow.cann.soc import Soc

SOURCE = (
    "canndev dynamic/pow.py, pow_2_square_fusion_pass.cc; CANN 8.1.RC1 dynamic/pow.py, "
    "Ascend310.ini"
)

_SQUARE, _NEXT_TO = 2.0, 1e-6


def why_not_in_half(node: ir.Node, soc: Soc) -> str | None:
    """Return why a Pow does not run in fp16 steps, or None."""
    if soc.fp32_functions:
        return "exp(y ln |x|) runs in fp32 here"
    if node.inputs[0] is None or node.inputs[0].dtype not in FLOATS:
        return "its base is no float"
    if _becomes_square(node):
        return "its exponent is a constant fp32 2: it becomes Square"
    return None


def put_in_place(node: ir.Node) -> None:
    """Spell the kernel out where `node` is, each step rounded."""
    step = Steps(node, "saturate")
    base, power = node.inputs
    assert base is not None  # noqa: S101, Pow has two inputs
    assert power is not None  # noqa: S101
    if power.dtype not in FLOATS:
        power = step.exact("Cast", [power], {"to": ir.DataType.FLOAT})
    x, y = step.rounded(base), step.rounded(power)
    zero, one, two = (step.number(n) for n in (0.0, 1.0, 2.0))
    size = step.exact("Abs", [x])
    is_zero = step.exact("Not", [step.exact("Greater", [size, zero])])
    log = step("Log", [step.exact("Where", [is_zero, one, size])])
    risen = step("Exp", [step("Mul", [y, log])])
    length = step.exact("Abs", [y])
    evens = step.exact("Mul", [two, step.exact("Floor", [step("Div", [length, two])])])
    sign = step("Sub", [one, step("Mul", [two, step("Sub", [length, evens])])])
    is_negative = step.exact("Less", [x, zero])
    signed = step("Mul", [risen, step.exact("Where", [is_negative, sign, one])])
    flat = step.exact("Not", [step.exact("Greater", [length, zero])])
    at_zero = step.exact("Where", [flat, one, zero])
    step.exact("Where", [is_zero, at_zero, signed])
    step.put_in_place()


def _becomes_square(node: ir.Node) -> bool:
    """Return whether Pow2SquareFusionPass takes it: four bytes of fp32, next to 2."""
    power = constant(node.inputs[1])
    return (
        power is not None
        and power.dtype == np.float32
        and power.size == 1
        and abs(float(power.reshape(())) - _SQUARE) <= _NEXT_TO
    )
