"""Constants beyond +-65504 -> +-65504, in nodes that compute with them.

This is what CANN does to them anyway from 8.5 on, and on SoCs that saturate; on 910B and
910_93 before 8.5 they become infinities, and 0 times that is NaN. In fp32 the model
computes something else after the edit, so the rule is lossy; masks before Softmax, whose
results stay, are for `clamp-mask` and are left alone here.

Source: GE `constant_clip_pass.cc`, 8.5.0 to master.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.constants import COMPUTING, float_constants
from ascendflow.graph.fp16 import beyond
from ascendflow.graph.masks import feeds_softmax
from ascendflow.graph.replaced_constants import finding, replace_constants
from ascendflow.graph.rule import Finding, Rule, Skipped
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class ClampConstants(Rule):
    """Make constants finite fp16 numbers."""

    name: ClassVar[str] = "clamp-constants"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = COMPUTING
    effect: ClassVar[Effect] = "lossy"

    def candidates(self, model: ir.Model) -> list[ir.Node]:
        """List the nodes that have floating constants at all."""
        return [node for node in super().candidates(model) if any(float_constants(node))]

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace the node's constants that fp16 cannot hold."""
        if feeds_softmax(node):
            yield Skipped(
                node, "its constants mask a Softmax: the rule 'clamp-mask' has it"
            )
            return
        replaced = replace_constants(node, "clamped", _clamped)
        yield finding(node, replaced, "no constant is beyond +-65504")


def _clamped(array: np.ndarray) -> np.ndarray | None:
    return None if beyond(array) is None else np.clip(array, -HALF_MAX, HALF_MAX)
