"""Softmax and LogSoftmax before opset 13, computed along one axis as CANN's kernels do.

Before opset 13 ONNX coerces the input to two dimensions, all that come before `axis` and
all from `axis` on, and normalises over the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.edit import Chain

if TYPE_CHECKING:
    import onnx_ir as ir


def normalise_along(node: ir.Node, axis: int, rank: int) -> None:
    """Replace `node`, whose opset coerces, by one that normalises along `axis` only.

    Along the last axis both agree, so `axis` is made the last for a while.

    Args:
        node: Softmax or LogSoftmax in an opset below 13.
        axis: from 0 to rank - 1.
        rank: number of dimensions of the input.
    """
    chain = Chain(node)
    swapped = list(range(rank))
    swapped[axis], swapped[-1] = swapped[-1], swapped[axis]
    last = chain("Transpose", [node.inputs[0]], {"perm": swapped})
    normalised = chain(node.op_type, [last], {"axis": rank - 1})
    chain("Transpose", [normalised], {"perm": swapped})
    chain.put_in_place()
