"""Products that overflow fp16: weights and bias / scale, then Cast to fp32, and * scale.

The scale is an argument, a power of two: `{name: scale-conv, nodes: [conv1], scale: 64}`.
Choose 2 ** ceil(log2(max |y| / 32768)). A power of two changes exponents only, so fp32
gives the same bits before and after. In fp16 a scaled weight below 2^-14 loses bits; that
is refused where the largest such loss is more than fp16 takes from ordinary weights
anyway, 2^-12 of their root mean square.

The product itself then fits, but `Mul` and what follows are no larger in fp16 than
before: keep them in fp32 (`keep_dtype`), or the same overflow happens one node later.

Fold BatchNormalization before this (onnxsim does). If a Cast to fp32 behind the product
is enough, since CANN lets Conv and MatMul give fp32 then, prefer that.

Source: public reports of the method (operator scaling); IEEE 754.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain, attributes_of
from ascendflow.graph.matrices import MATRIX_PRODUCTS
from ascendflow.graph.nodes import constant
from ascendflow.graph.rule import Applied, Finding, Skipped
from ascendflow.graph.rules.power_of_two_base import ScalingRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx_ir as ir

_NORMAL = 2.0**-14
"""The smallest fp16 number with all its bits."""
_HALF_STEP = 2.0**-25
"""What rounding takes at most from a number below that."""


class ScaleConv(ScalingRule):
    """Compute a product at a power of two below its size."""

    name: ClassVar[str] = "scale-conv"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = MATRIX_PRODUCTS
    advice: ClassVar[str] = "take 2 ** ceil(log2(max |y| / 32768))"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Scale one product."""
        if self._scale is None:
            yield Skipped(node, "no scale is given")
        elif isinstance(scaled := _scaled(node, self._scale), str):
            yield Skipped(node, scaled)
        else:
            _put_in_place(node, scaled, self._scale)
            yield Applied(node, before={"scale": 1}, after={"scale": self._scale})


def _scaled(node: ir.Node, scale: int) -> dict[int, np.ndarray] | str:
    """Return the scaled weights and bias by input, or why they cannot be."""
    scaled = {}
    for index, value in enumerate(node.inputs[1:], 1):
        if value is None:
            continue
        array = constant(value)
        if array is None or array.dtype != np.float32:
            return f"input {index}, {value.name!r}, is no fp32 constant"
        scaled[index] = array / np.float32(scale)
        if not np.array_equal(scaled[index] * np.float32(scale), array):
            return f"{value.name!r} / {scale} is not exact in fp32"
    small = np.abs(scaled[1])
    if bool(((small > 0) & (small < _NORMAL)).any()):
        ordinary = float(np.sqrt(np.mean(np.square(scaled[1], dtype=np.float64))))
        if ordinary / 2**12 < _HALF_STEP:
            return (
                f"weights of {ordinary * scale:.2g} (root mean square) / {scale} lose bits "
                "in fp16; take a smaller scale"
            )
    return scaled


def _put_in_place(node: ir.Node, scaled: Mapping[int, np.ndarray], scale: int) -> None:
    import onnx_ir as ir

    chain = Chain(node)
    inputs = [
        chain.constant(f"scaled.{index}", scaled[index]) if index in scaled else value
        for index, value in enumerate(node.inputs)
    ]
    product = chain(node.op_type, inputs, attributes_of(node))
    wide = chain("Cast", [product], {"to": ir.DataType.FLOAT})
    chain("Mul", [wide, chain.constant("scale", np.array(scale, np.float32))])
    chain.put_in_place()
