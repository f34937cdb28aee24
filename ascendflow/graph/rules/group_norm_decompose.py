"""GroupNormalization -> Reshape, InstanceNormalization, Reshape, and Mul, Add.

No CANN has a parser for it. With each group as one channel of three axes (N, G, rest) it
is an instance normalisation. Up to opset 20, scale and bias have one number per group,
which InstanceNormalization takes; from 21 on one per channel, applied afterwards. ONNX
has since deprecated the first form, so its checker refuses such a file before the rule.

Source: ONNX operator docs, GroupNormalization-18 and -21.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import static_shape, why_not_float32
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

_PER_CHANNEL_SINCE = 21


class GroupNormDecompose(Rule):
    """Spell GroupNormalization as an InstanceNormalization of groups."""

    name: ClassVar[str] = "group-norm-decompose"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"GroupNormalization"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put the nodes in the node's place."""
        shape = static_shape(node.inputs[0])
        reason = why_not_float32(node.inputs[0])
        if reason is None and shape is None:
            reason = "the shape of its input is not fixed"
        if reason is not None or shape is None:
            yield Skipped(node, str(reason))
            return
        groups = node.attributes.get_int("num_groups")
        _spell(node, shape, groups)
        yield Applied(node, before={}, after={"groups": groups})


def _spell(node: ir.Node, shape: tuple[int, ...], groups: int) -> None:
    x, scale, bias = node.inputs
    chain = Chain(node)
    per_channel = (node.version or 18) >= _PER_CHANNEL_SINCE
    inner_scale, inner_bias = scale, bias
    if per_channel:
        inner_scale = chain.constant("ones", np.ones(groups, np.float32))
        inner_bias = chain.constant("zeros", np.zeros(groups, np.float32))
    grouped = chain.constant("grouped", np.array([0, groups, -1], np.int64))
    y = chain(
        "InstanceNormalization",
        [chain("Reshape", [x, grouped]), inner_scale, inner_bias],
        {"epsilon": node.attributes.get_float("epsilon", 1e-5)},
    )
    y = chain("Reshape", [y, chain.constant("shape", np.array(shape, np.int64))])
    if per_channel:
        column = chain.constant("column", np.array([-1] + [1] * (len(shape) - 2), np.int64))
        y = chain("Mul", [y, chain("Reshape", [scale, column])])
        chain("Add", [y, chain("Reshape", [bias, column])])
    chain.put_in_place()
