"""Masks before Softmax: what is beyond +-65504 -> +-30000.

Scores that are pushed down by 3e4 come out of Softmax as 0, as they do with 1e9: the
outputs stay within rounding, as long as each row keeps one element that is not masked and
no two scores differ by more than about 3e4. A row that is masked altogether does change:
there 1e9 swallows the scores in fp32, and 3e4 does not. So `check` holds this rule to its
promise on the samples; constants that do more than mask are for `clamp-constants`.

30000 and not 65504, so that two masks and a score do not reach -inf together.

Source: ModelZoo-PyTorch recipes that replace such constants: Conformer `graph_fusion`,
roberta `opt_onnx`, Bert_Base_Chinese and VilBert `fix_onnx`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.constants import float_constants
from ascendflow.graph.fp16 import beyond
from ascendflow.graph.masks import MASK_LIMIT, MASKING, feeds_softmax
from ascendflow.graph.replaced_constants import finding, replace_constants
from ascendflow.graph.rule import Finding, Rule
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class ClampMask(Rule):
    """Make masks fp16 numbers."""

    name: ClassVar[str] = "clamp-mask"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = MASKING
    effect: ClassVar[Effect] = "equivalent"

    def candidates(self, model: ir.Model) -> list[ir.Node]:
        """List the nodes that take a constant in on its way to a Softmax."""
        return [
            node
            for node in super().candidates(model)
            if any(float_constants(node)) and feeds_softmax(node)
        ]

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace the node's constants that fp16 cannot hold."""
        replaced = replace_constants(node, "clamped", _clamped)
        yield finding(node, replaced, "no constant is beyond +-65504")


def _clamped(array: np.ndarray) -> np.ndarray | None:
    if beyond(array) is None:
        return None
    size = np.abs(array)
    between = bool(((size > MASK_LIMIT) & (size <= HALF_MAX)).any())
    # Elements between the two keep their place in the order.
    limit = np.float32(HALF_MAX if between else MASK_LIMIT)
    out = size > HALF_MAX
    return np.where(out, np.copysign(limit, array), array).astype(np.float32)
