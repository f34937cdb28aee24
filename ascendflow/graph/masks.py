"""Additive masks: constants that only ever push scores of a Softmax down to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.uses import MOVING, final_uses

if TYPE_CHECKING:
    import onnx_ir as ir

MASK_LIMIT = 3e4
"""What stands for -inf in a mask. exp(-3e4) is 0 in fp32 already, and two such masks and a
score of 5504 still add up within fp16's range."""

_ADDING = frozenset({"Add", "Sub", "Where", "Sum"})
MASKING = _ADDING | {"Expand", "Mul", "Reshape", "Transpose", "Unsqueeze"}
"""Operators that may take a mask's constant in."""


def feeds_softmax(node: ir.Node) -> bool:
    """Return whether a constant that `node` takes in is only added to scores of Softmax.

    Its output may be moved, added to, or chosen from by Where; every such way must end in
    a Softmax. A Mul (of 1 - mask) needs an Add or Sub after it.
    """
    ends = list(final_uses(node.outputs[0], MOVING | _ADDING))
    if not ends or not all(u.node and u.node.op_type == "Softmax" for u in ends):
        return False
    if node.op_type != "Mul":
        return node.op_type in MASKING
    direct = list(final_uses(node.outputs[0], MOVING))
    return all(u.node and u.node.op_type in _ADDING for u in direct)
