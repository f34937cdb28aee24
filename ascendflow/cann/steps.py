"""Spells a kernel out step by step, each step rounded to fp16 where the vector unit is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ascendflow.cann.rounding import stored
from ascendflow.graph.edit import Chain
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx_ir as ir

    from ascendflow.cann.soc import Overflow


class Steps:
    """Builds the nodes that go in one node's place.

    Args:
        node: the node to replace.
        overflow: round what each step gives to fp16, and what becomes of numbers beyond
            its range; None where the steps are fp32.
    """

    def __init__(self, node: ir.Node, overflow: Overflow | None) -> None:
        self._chain = Chain(node)
        self._overflow: Overflow | None = overflow
        self._numbers: dict[float, ir.Value] = {}
        self.put_in_place = self._chain.put_in_place

    def __call__(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        attributes: Mapping[str, Any] | None = None,
    ) -> ir.Value:
        """Append one step and return what it gives."""
        value = self._chain(op_type, inputs, attributes)
        return value if self._overflow is None else self.rounded(value)

    def exact(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        attributes: Mapping[str, Any] | None = None,
    ) -> ir.Value:
        """Append a step that needs no rounding: a comparison, a selection."""
        return self._chain(op_type, inputs, attributes)

    def exp(self, value: ir.Value) -> ir.Value:
        """Append an exp of the kernel's own type."""
        return self("Exp", [value])

    def half_exp(self, value: ir.Value) -> ir.Value:
        """Append an exp of the fp16 unit."""
        return self.rounded(self._chain("Exp", [self.rounded(value)]))

    def rounded(self, value: ir.Value) -> ir.Value:
        """Round to fp16; among fp32 steps beyond its range to +-65504.

        Only the SoC that saturates has an exp in fp16 among those.
        """
        return stored(self._chain, value, self._overflow or "saturate")

    def number(self, number: float) -> ir.Value:
        """Return an fp32 scalar; an fp16 one where the steps are fp16."""
        if self._overflow is not None and abs(number) <= HALF_MAX:
            number = float(np.float16(number))
        if number not in self._numbers:
            array = np.array(number, np.float32)
            self._numbers[number] = self._chain.constant(f"{number:g}", array)
        return self._numbers[number]
