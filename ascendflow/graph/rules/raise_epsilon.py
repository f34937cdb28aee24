"""Epsilons that fp16 rounds to 0 -> 2^-24, the smallest number that it keeps.

Lossy, since what an epsilon guards may be anything: the logarithm of 1e-12 is -27.6, that
of 2^-24 is -16.6. Where the guarded value is never near 0 nothing changes that could be
seen.

The square root of 2^-24 is 2.4e-4, whose reciprocal fp16 holds. The reciprocal of 2^-24
itself it does not: 1 / (x + eps) wants an epsilon of 1.6e-5, x / (x + eps) does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.constants import float_constants
from ascendflow.graph.epsilons import GUARDING, epsilon_inputs, guards
from ascendflow.graph.fp16 import HALF_TINY, lost
from ascendflow.graph.replaced_constants import finding, replace_constants
from ascendflow.graph.rule import Finding, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class RaiseEpsilon(Rule):
    """Make epsilons fp16 numbers above 0."""

    name: ClassVar[str] = "raise-epsilon"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = GUARDING
    effect: ClassVar[Effect] = "lossy"

    def candidates(self, model: ir.Model) -> list[ir.Node]:
        """List the nodes that guard something."""
        return [
            node
            for node in super().candidates(model)
            if any(float_constants(node)) and guards(node)
        ]

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace the node's epsilon."""
        replaced = replace_constants(node, "raised", _raised, only=epsilon_inputs(node))
        yield finding(node, replaced, "fp16 holds its constants")


def _raised(array: np.ndarray) -> np.ndarray | None:
    are_lost = lost(array)
    return np.where(are_lost, np.float32(HALF_TINY), array) if are_lost.any() else None
