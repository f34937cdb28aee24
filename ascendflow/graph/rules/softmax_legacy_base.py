"""What the rules for Softmax and LogSoftmax before opset 13 have in common: no rule itself.

Source: ONNX operator docs, Softmax-11 and LogSoftmax-11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.legacy_axis import read_legacy_axis
from ascendflow.graph.nodes import static_shape
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


class LegacySoftmax(Rule):
    """Spell the coercion out: Flatten, normalise the last axis, Reshape."""

    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one node, unless its axis is the last, where nothing is coerced."""
        legacy = read_legacy_axis(node)
        if isinstance(legacy, str):
            yield Skipped(node, legacy)
            return
        if legacy.is_last:
            yield Skipped(node, f"axis {legacy.axis} is the last: nothing is coerced")
            return
        _spell_out(node, legacy.axis)
        yield Applied(
            node,
            before={"op_type": node.op_type, "axis": legacy.axis},
            after={"op_types": ["Flatten", node.op_type, "Reshape"]},
        )


def _spell_out(node: ir.Node, axis: int) -> None:
    chain = Chain(node)
    data = node.inputs[0]
    flat = chain("Flatten", [data], {"axis": axis})
    normalised = chain(node.op_type, [flat], {"axis": 1})
    shape = static_shape(data)
    target = (
        chain("Shape", [data])
        if shape is None or min(shape) < 0  # some exporters write -1 for unknown
        else chain.constant("shape", np.array(shape, np.int64))
    )
    chain("Reshape", [normalised, target])
    chain.put_in_place()
